/** Intents of calls without an effect on the world, and results that came after their daemon. */
import type { Probed } from "../../abi/program.ts";

/** Whether a call, by the body of its intent, is a model call: it changes nothing but what was spent. */
export function isModelCall(intent: unknown): boolean {
  return String((intent as { device?: unknown }).device).startsWith("/dev/llm/");
}

/** The body of the intent that marks a process while a daemon takes it into memory: one that kills the daemon is known by it. */
export const LOADING = {
  tool: "",
  device: "",
  class: "internal",
  effects: [],
  input: "",
  loading: true,
} as const;

export function isLoading(intent: unknown): boolean {
  return (intent as { loading?: unknown }).loading === true;
}

/** The body of the result of a call that its daemon did not see the end of, and that a later one looked for. */
export interface ProbedBody {
  readonly probed: Probed["outcome"];
  /** The seq of its intent. */
  readonly intent: number;
}

export function isProbed(result: object): result is ProbedBody {
  return "probed" in result;
}

/** `intent`: the body of its intent. */
export function probedOf(outcome: Probed["outcome"], { tool, input }: Record<string, unknown>): Probed {
  return { outcome, tool: String(tool ?? ""), input: String(input ?? "") };
}
