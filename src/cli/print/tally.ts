/** What a run has used so far, counted from its events. */
import type { Block, StopReason, Usage } from "../../abi/llm.ts";
import type { ResultLine } from "../../abi/print/print.ts";
import type { MessageEvent, ToolResultEvent, WireRefusal } from "../../abi/wire-events.ts";

type ToolUse = Extract<Block, { type: "tool_use" }>;
type Denials = ResultLine["permission_denials"];

export const NONE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** What calls of a model have used; `usd`: US dollars, absent where a price is not known. */
export interface ModelSpent {
  readonly usage: Usage;
  readonly usd?: number | undefined;
}

interface Spent {
  readonly usd: number;
  /** By model, where that is more than the replies that were told: attempts that failed, other agents, other models. */
  readonly byModel?: ReadonlyMap<string, ModelSpent> | undefined;
  /** Of the model that answered last, in tokens. */
  readonly window?: number | undefined;
}

export class Tally {
  turns = 0;
  apiMs = 0;
  stopReason: StopReason | null = null;
  /** The last text of the agent. */
  text = "";
  readonly #byModel = new Map<string, Usage>();
  #lastModel = "";
  /** Calls without a result. */
  readonly #open = new Map<string, ToolUse>();
  /** Calls whose result is an error, in the order of the results. */
  readonly #failed: ToolUse[] = [];

  message({ content, model, stop_reason, usage, duration_ms }: MessageEvent): void {
    this.turns++;
    this.apiMs += duration_ms;
    this.stopReason = stop_reason;
    this.#lastModel = model;
    this.#byModel.set(model, plus(this.#byModel.get(model) ?? NONE, usage));
    const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    if (texts.some((text) => text.trim() !== "")) this.text = texts.join("");
    for (const block of content) if (block.type === "tool_use") this.#open.set(block.id, block);
  }

  toolResult({ tool_use_id, is_error }: ToolResultEvent): void {
    const call = this.#open.get(tool_use_id);
    this.#open.delete(tool_use_id);
    if (call !== undefined && is_error === true) this.#failed.push(call);
  }

  findCall(tool: string, input: object): string | undefined {
    const text = JSON.stringify(input);
    const open = [...this.#open.values()].filter(
      ({ name, input: of }) => name === tool || calledBy(of) === tool,
    );
    return (open.find((call) => JSON.stringify(call.input) === text) ?? open[0])?.id;
  }

  /** A call of the last reply has no result. */
  get isCalling(): boolean {
    return this.#open.size > 0;
  }

  /** The model of all replies, and what they have used; undefined: several have answered. */
  get only(): readonly [model: string, usage: Usage] | undefined {
    const [first = ["", NONE] as const, ...more] = this.#byModel;
    return more.length === 0 ? first : undefined;
  }

  /** What is told of the run in its result: `usd` is what it has cost. */
  spent({ usd, byModel, window }: Spent): Pick<ResultLine, "usage" | "modelUsage"> {
    const isOne = this.#byModel.size === 1;
    const told = [...this.#byModel].map(
      ([model, usage]) => [model, isOne ? { usage, usd } : { usage }] as const,
    );
    const all: ReadonlyMap<string, ModelSpent> = byModel ?? new Map(told);
    const lines = [...all].map(([model, { usage, usd: cost = 0 }]) => [
      model,
      {
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        cacheReadInputTokens: usage.cache_read_input_tokens,
        cacheCreationInputTokens: usage.cache_creation_input_tokens,
        ...(cost > 0 ? { costUSD: cost } : {}),
        ...(model === this.#lastModel && window !== undefined ? { contextWindow: window } : {}),
      },
    ]);
    return {
      usage: [...all.values()].map(({ usage }) => usage).reduce(plus, NONE),
      modelUsage: Object.fromEntries(lines) as ResultLine["modelUsage"],
    };
  }

  /** The refusals, each with the first call of that tool that failed and is not yet another's. */
  denials(refused: readonly WireRefusal[]): Denials {
    const left = [...this.#failed];
    return refused.map(({ tool, reason, allow }) => {
      const at = left.findIndex(({ name, input }) => name === tool || calledBy(input) === tool);
      const [call] = at < 0 ? [] : left.splice(at, 1);
      return {
        tool_name: tool,
        tool_use_id: call?.id ?? "",
        tool_input: (call?.input ?? {}) as Denials[number]["tool_input"],
        reason,
        allow,
      };
    });
  }
}

/** The tool behind a call of `tool_call`. */
function calledBy(input: unknown): unknown {
  return typeof input === "object" && input !== null ? (input as { name?: unknown }).name : undefined;
}

export function plus(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
  };
}

export function minus(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens - b.input_tokens,
    output_tokens: a.output_tokens - b.output_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens - b.cache_creation_input_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens - b.cache_read_input_tokens,
  };
}

export function tokensOf(usage: Usage): number {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  return input_tokens + output_tokens + cache_creation_input_tokens + cache_read_input_tokens;
}
