/** Intents of calls that are no effects of a program on the world. */

/** By the body of its intent. It changes nothing but what was spent. */
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
