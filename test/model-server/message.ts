/** A reply made concrete for one request: ids minted, signatures made, tokens counted. Both encoders start here. */
import { type Mint, sign } from "./identity.ts";
import type { Reply, ReplyBlock, ReplyPlan } from "./reply.ts";
import type { ModelRequest } from "./request.ts";

export type MessageBlock =
  | Exclude<ReplyBlock, { type: "tool_use" | "thinking" }>
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly json: string };

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h: number;
  readonly reasoning: number;
}

export interface Message {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly MessageBlock[];
  readonly stopReason: string;
  readonly stopSequence: string | null;
  readonly usage: Usage;
  readonly plan: ReplyPlan;
}

/** One SSE frame. `isCounted` is false for what `noise()` adds, `endsBlock` true where a content block ends. */
export interface Frame {
  readonly text: string;
  readonly isCounted: boolean;
  readonly endsBlock: boolean;
}

const idPrefixes = {
  anthropic: { message: "msg_01", call: "toolu_01" },
  bedrock: { message: "msg_bdrk_01", call: "toolu_bdrk_01" },
  openai: { message: "chatcmpl-", call: "call_" },
  responses: { message: "resp_", call: "call_" },
  gemini: { message: "", call: "" },
  ollama: { message: "", call: "call_" },
} as const;

export function composeMessage(reply: Reply, request: ModelRequest, mint: Mint): Message {
  const { plan } = reply;
  const prefix = idPrefixes[request.dialect];
  const blocks = plan.blocks.map((block): MessageBlock => {
    if (block.type === "tool_use") return { ...block, id: block.id ?? mint.next(prefix.call) };
    if (block.type === "thinking") {
      return { ...block, signature: block.signature ?? sign(plan.model ?? request.model, block.thinking) };
    }
    return block;
  });
  return {
    id: mint.next(prefix.message),
    model: plan.model ?? request.model,
    blocks,
    stopReason:
      plan.stopReason ?? (blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn"),
    stopSequence: plan.stopSequence ?? null,
    usage: countUsage(plan, blocks, request),
    plan,
  };
}

/** Four bytes to a token; good enough for a server whose exact numbers a script states. */
export function estimateTokens(chars: number): number {
  return Math.max(1, Math.ceil(chars / 4));
}

function countUsage(plan: ReplyPlan, blocks: readonly MessageBlock[], request: ModelRequest): Usage {
  const chars = blocks.reduce((sum, block) => sum + blockChars(block), 0);
  const { usage } = plan;
  const { cache } = request;
  return {
    input: usage.input ?? cache?.input ?? estimateTokens(request.rawBody.length),
    output: usage.output ?? estimateTokens(chars),
    cacheRead: usage.cacheRead ?? cache?.read ?? 0,
    cacheWrite: usage.cacheWrite ?? cache?.write ?? 0,
    cacheWrite1h: cache?.write1h ?? 0,
    reasoning: usage.reasoning ?? 0,
  };
}

function blockChars(block: MessageBlock): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "thinking") return block.thinking.length;
  if (block.type === "tool_use") return block.name.length + block.json.length;
  return 16;
}

/** A block of half a megabyte, as a delta for each few words, would cost a test more than all that it shows. */
const FRAGMENT = 24;
const MOST_FRAGMENTS = 1_000;

/** Pieces of at most about `wanted` UTF-16 units; a surrogate pair is never torn apart. */
export function fragments(value: string, wanted: number | undefined): string[] {
  const size = wanted ?? Math.max(FRAGMENT, Math.ceil(value.length / MOST_FRAGMENTS));
  const pieces: string[] = [];
  let start = 0;
  while (start < value.length) {
    let end = Math.min(start + size, value.length);
    const last = value.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < value.length) end += 1;
    pieces.push(value.slice(start, end));
    start = end;
  }
  return pieces;
}
