/**
 * What a script answers with. A `Reply` is an immutable value that knows no dialect; each method gives a
 * changed copy, so one reply may be shared by many requests and many tests.
 *
 *   text("Reading it.").and(toolUse({ name: "view", input: { path: "a.ts" } })).splitEvery(3)
 *
 * Points in a stream count SSE events of the dialect in use (a `[DONE]` counts, what `noise()` adds does not) or
 * finished content blocks, which are the same in both dialects (the chat one has no empty, redacted or custom ones).
 */
import { type ApiError, apiError } from "./error.ts";

export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "model_context_window_exceeded"
  | "pause_turn"
  | "refusal";

export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature?: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  /** `json` is streamed as it stands, so it may be anything but JSON. */
  | { readonly type: "tool_use"; readonly id?: string; readonly name: string; readonly json: string }
  /** Messages dialect only: a block type of the caller's choice. */
  | {
      readonly type: "custom";
      readonly start: Readonly<Record<string, unknown>>;
      readonly deltas: readonly Readonly<Record<string, unknown>>[];
    };

export interface ToolCall {
  readonly name: string;
  readonly input?: unknown;
  readonly id?: string;
}

/** Tokens. `input` excludes what the cache read or wrote, `output` includes reasoning. */
export interface ReplyUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** Where in a streamed reply something happens; the beginning of the body when nothing is said. */
export interface Point {
  readonly afterEvents?: number;
  readonly afterBlocks?: number;
  /** Before the status line is written. */
  readonly beforeHeaders?: boolean;
}

export type Deed =
  | { readonly do: "wait"; readonly for: number | "forever" | PromiseLike<unknown> }
  | { readonly do: "cut"; readonly isReset: boolean }
  | { readonly do: "end" }
  | { readonly do: "fail"; readonly error: ApiError }
  | { readonly do: "inject"; readonly raw: string };

export interface Action {
  readonly at: Point;
  readonly deed: Deed;
}

export interface ReplyPlan {
  readonly blocks: readonly ReplyBlock[];
  readonly error?: ApiError;
  readonly stopReason?: string;
  readonly stopSequence?: string;
  readonly usage: ReplyUsage;
  readonly model?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly actions: readonly Action[];
  /** Bytes per socket write; undefined leaves the size to Node. */
  readonly splitBytes?: number;
  /** Characters per delta; undefined: as few as providers send, and more where a block would come in too many. */
  readonly fragmentChars: number | undefined;
  readonly isNoisy: boolean;
  readonly repeatsStart: boolean;
}

const emptyPlan: ReplyPlan = {
  blocks: [],
  usage: {},
  headers: {},
  actions: [],
  fragmentChars: undefined,
  isNoisy: false,
  repeatsStart: false,
};

export class Reply {
  readonly plan: ReplyPlan;

  constructor(plan: Partial<ReplyPlan>) {
    this.plan = { ...emptyPlan, ...plan };
  }

  #with(change: Partial<ReplyPlan>): Reply {
    return new Reply({ ...this.plan, ...change });
  }

  #act(at: Point, deed: Deed): Reply {
    return this.#with({ actions: [...this.plan.actions, { at, deed }] });
  }

  /** Appends the content blocks of `others`; everything else stays as it is here. */
  and(...others: readonly (Reply | string)[]): Reply {
    const more = others.flatMap((other) => (typeof other === "string" ? text(other) : other).plan.blocks);
    return this.#with({ blocks: [...this.plan.blocks, ...more] });
  }

  usage(usage: ReplyUsage): Reply {
    return this.#with({ usage: { ...this.plan.usage, ...usage } });
  }

  /** A reason outside `StopReason` is sent as it stands. */
  stop(reason: StopReason | (string & {}), sequence?: string): Reply {
    return this.#with({ stopReason: reason, ...(sequence === undefined ? {} : { stopSequence: sequence }) });
  }

  /** The model the reply names, when it differs from the one asked for. */
  from(model: string): Reply {
    return this.#with({ model });
  }

  headers(headers: Readonly<Record<string, string>>): Reply {
    return this.#with({ headers: { ...this.plan.headers, ...headers } });
  }

  /** Waits before the status line, or at a point of the stream. */
  delay(ms: number, at: Point = { beforeHeaders: true }): Reply {
    return this.#act(at, { do: "wait", for: ms });
  }

  /** Like `delay`, until the promise settles. One that rejects breaks the connection and counts as unexpected. */
  until(gate: PromiseLike<unknown>, at: Point = { beforeHeaders: true }): Reply {
    // seen here, so that a gate which rejects before anyone waits is no unhandled rejection
    Promise.resolve(gate).catch(() => {});
    return this.#act(at, { do: "wait", for: gate });
  }

  /** Silence with the connection open, for `ms`, or until the client or the server closes it. */
  stall(at: Point & { readonly ms?: number } = {}): Reply {
    return this.#act(at, { do: "wait", for: at.ms ?? "forever" });
  }

  /** The socket goes away in mid reply: FIN, or RST with `reset`. */
  cut(at: Point & { readonly reset?: boolean } = {}): Reply {
    return this.#act(at, { do: "cut", isReset: at.reset ?? false });
  }

  /** The body ends properly, but too early. */
  truncate(at: Point = {}): Reply {
    return this.#act(at, { do: "end" });
  }

  /** An error event in the stream, after which the body ends; a plain HTTP error when the request did not stream. */
  fail(failure: Reply, at: Point = {}): Reply {
    return this.#act(at, { do: "fail", error: failure.plan.error ?? apiError(500) });
  }

  /** Bytes of the caller's choice between two frames: bad framing, over-long lines, foreign events. */
  inject(raw: string, at: Point = {}): Reply {
    return this.#act(at, { do: "inject", raw });
  }

  /** Every `bytes` bytes go out in a socket write of their own, across frames and UTF-8 characters. */
  splitEvery(bytes: number): Reply {
    return this.#with({ splitBytes: Math.max(1, bytes) });
  }

  /** Characters per delta of text, thinking and tool input. */
  fragment(chars: number): Reply {
    return this.#with({ fragmentChars: Math.max(1, chars) });
  }

  /** Intersperses comments, unknown events and unknown fields, which clients must pass over. */
  noise(): Reply {
    return this.#with({ isNoisy: true });
  }

  /** The first piece of each text or thinking block comes in its start too, as some providers send it. */
  repeatStart(): Reply {
    return this.#with({ repeatsStart: true });
  }
}

export function text(value: string): Reply {
  return new Reply({ blocks: [{ type: "text", text: value }] });
}

export function thinking(value: string, signature?: string): Reply {
  const block: ReplyBlock = { type: "thinking", thinking: value };
  return new Reply({ blocks: [signature === undefined ? block : { ...block, signature }] });
}

export function redactedThinking(data: string): Reply {
  return new Reply({ blocks: [{ type: "redacted_thinking", data }] });
}

export function toolUse(
  calls: ToolCall | readonly ToolCall[],
  options: { readonly text?: string } = {},
): Reply {
  const list: readonly ToolCall[] = "name" in calls ? [calls] : calls;
  const blocks = list.map((call) => toolBlock(call.name, JSON.stringify(call.input ?? {}), call.id));
  const head: ReplyBlock[] = options.text === undefined ? [] : [{ type: "text", text: options.text }];
  return new Reply({ blocks: [...head, ...blocks] });
}

/** A call whose arguments are `raw`. A complete (non-streaming) Messages answer carries it as a string. */
export function malformedToolJson(name: string, raw: string, id?: string): Reply {
  return new Reply({ blocks: [toolBlock(name, raw, id)] });
}

/** A content block of any type; the chat dialect has no place for it and leaves it out. */
export function customBlock(
  start: Readonly<Record<string, unknown>>,
  deltas: readonly Readonly<Record<string, unknown>>[] = [],
): Reply {
  return new Reply({ blocks: [{ type: "custom", start, deltas }] });
}

/** The blocks of all parts, in order. */
export function blocks(...parts: readonly (Reply | string)[]): Reply {
  return new Reply({}).and(...parts);
}

/** Type and message follow from the status when left out. `extra` is for the chat dialect. */
export function error(
  status: number,
  type?: string,
  message?: string,
  headers: Readonly<Record<string, string>> = {},
  extra: { readonly code?: string | null; readonly param?: string | null } = {},
): Reply {
  const words = { ...(type === undefined ? {} : { type }), ...(message === undefined ? {} : { message }) };
  return new Reply({ error: apiError(status, { ...words, headers, ...extra }) });
}

/** 429 with `retry-after` in seconds (or an HTTP date). */
export function rateLimit(options: { readonly retryAfter?: number | string } = {}): Reply {
  const { retryAfter } = options;
  return error(429, undefined, undefined, retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` });
}

export function overloaded(headers: Readonly<Record<string, string>> = {}): Reply {
  return error(529, undefined, undefined, headers);
}

/** A reply that stops; a longer one is made with `text(…).stall(…)`. */
export function stall(at: Point & { readonly ms?: number } = {}): Reply {
  return text("This reply goes silent.").stall(at);
}

/** A reply whose socket is destroyed; a longer one is made with `text(…).cut(…)`. */
export function cut(at: Point & { readonly reset?: boolean } = {}): Reply {
  return text("This reply breaks off.").cut(at);
}

function toolBlock(name: string, json: string, id: string | undefined): ReplyBlock {
  const block = { type: "tool_use", name, json } as const;
  return id === undefined ? block : { ...block, id };
}
