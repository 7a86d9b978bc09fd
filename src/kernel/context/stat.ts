/** What the model sees of a process, in numbers: from what its loop measured, and from the messages in view. Pure. */
import {
  BESIDE_PARTS,
  CONTEXT_PARTS,
  type ContextGauge,
  type ContextPart,
  type ContextStat,
  RECALLED,
  type ShownMessage,
  type ViewMove,
} from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { thresholds } from "../../lib/tokens/window.ts";
import { renderedView } from "./cleared.ts";
import { headOf, type Views } from "./view.ts";

export interface Seen {
  readonly gauge: ContextGauge;
  readonly moves: readonly ViewMove[];
  readonly views: Views;
  /** The messages in view as they were written, and their numbers. */
  readonly messages: readonly ContextMessage[];
  readonly numbers: readonly number[];
}

/** Of a process that has asked no model yet. */
export const UNMEASURED: ContextGauge = {
  ...{ device: "", model: "", window: 200_000, maxOutput: 8_000, auto: true, compact: true },
  ...{ ratio: 1.1, beside: {}, breaker: null, reported: null },
};

export function statOf(written: Seen): ContextStat & { readonly parts: Parts } {
  const { gauge, moves, views, numbers } = written;
  const all = new Map(numbers.map((n, i) => [n, written.messages[i] as ContextMessage]));
  const seen = { ...written, messages: renderedView(views, headOf(views), all) };
  const { device, model, window, maxOutput, auto, compact, breaker, folding, target } = gauge;
  const { effective, warn, auto: at, block } = thresholds(window, maxOutput, auto && compact);
  const shown = seen.messages.map((message, i) => shownMessage(message, numbers[i] ?? 0, views.pins));
  const parts = estimated(gauge, shown);
  const { used, exact } = usedOf(seen, sumOf(parts));
  return {
    ...{ device, model, window, effective, used, exact },
    level: used >= block ? "blocked" : used < warn ? "ok" : at === null ? "error" : "warn",
    thresholds: { warn, auto: at, block },
    ...(folding === undefined ? {} : { folding }),
    ...(target == null ? {} : { target }),
    ...{ compact, breaker, boundaries: views.moves, moves },
    undoable: views.stack.length - 1,
    records: views.count,
    shown: seen.messages.length,
    messages: shown,
    parts: scaled(parts, used),
    reserve: window - effective,
  };
}

type Parts = Record<ContextPart, number>;

function estimated({ beside }: ContextGauge, messages: readonly ShownMessage[]): Parts {
  const parts = Object.fromEntries(CONTEXT_PARTS.map((part) => [part, 0])) as Parts;
  for (const part of BESIDE_PARTS) parts[part] = beside[part] ?? 0;
  for (const { part, tokens } of messages) parts[part] += tokens;
  return parts;
}

/** Of the beginning of a message. */
const WORDS_CHARS = 80;

function shownMessage(message: ContextMessage, n: number, pins: ReadonlySet<number>): ShownMessage {
  const { role, content, blocks = [] } = message;
  const kind = role === "tool" ? "results" : content.startsWith(RECALLED) ? "memory" : "messages";
  const part = pins.has(n) ? "pins" : kind;
  const names = blocks.flatMap((block) => (block.type === "tool_use" ? block.name : []));
  const words =
    content
      .slice(0, 4 * WORDS_CHARS)
      .replaceAll(/\s+/g, " ")
      .trim() || names.join(", ");
  return { n, part, tokens: messageTokens(message), words: words.slice(0, WORDS_CHARS).toWellFormed() };
}

/** The reported tokens, and an estimate of what was added since. */
function usedOf({ gauge, messages, numbers }: Seen, whole: number): { used: number; exact: boolean } {
  const { reported, ratio } = gauge;
  if (reported === null) return { used: Math.ceil(whole * ratio), exact: false };
  // the reply itself was reported
  const isReply = (i: number): boolean =>
    numbers[i] === reported.records + 1 && messages[i]?.role === "assistant";
  const since = messages.filter((_, i) => (numbers[i] ?? 0) > reported.records && !isReply(i));
  const more = since.reduce((sum, message) => sum + messageTokens(message), 0);
  return { used: reported.tokens + Math.ceil(more * ratio), exact: since.length === 0 };
}

/** The parts as shares of `used`; what rounding leaves goes to the largest. */
function scaled(parts: Parts, used: number): Parts {
  const whole = sumOf(parts);
  if (whole === 0) return { ...parts, system: used };
  const shares = Object.fromEntries(
    CONTEXT_PARTS.map((part) => [part, Math.floor((parts[part] * used) / whole)]),
  ) as Parts;
  const largest = CONTEXT_PARTS.reduce((a, b) => (shares[b] > shares[a] ? b : a));
  shares[largest] += used - sumOf(shares);
  return shares;
}

function sumOf(parts: Parts): number {
  return CONTEXT_PARTS.reduce((sum, part) => sum + parts[part], 0);
}
