/** What has become of the prompts of a session while nobody followed it, by its history: pure. */
import { isErrorCode } from "../../abi/errno.ts";
import { INTERRUPTED_NOTE } from "../../abi/events.ts";
import { ENDS, type Terminal } from "../../abi/loop.ts";
import type { WireHistoryItem, WireRunFailure } from "../../abi/methods/session.ts";
import type { IdleEvent } from "../../abi/wire-events.ts";
import type { Prompt, PromptEnd } from "./prompt-queue.ts";

interface Missed {
  readonly prompt: Prompt;
  readonly end: PromptEnd;
}

interface Past {
  readonly pid: number;
  /** The newest messages, oldest first. */
  readonly messages: readonly WireHistoryItem[];
  /** A run is in progress, whose end is told. */
  readonly isRunning: boolean;
}

interface Found {
  /** Prompts whose run is over. */
  readonly over: readonly Missed[];
  /** What those runs said last. */
  readonly texts: readonly string[];
  /** Prompts whose run is in progress. */
  readonly read: readonly Prompt[];
}

export function missedIn(prompts: readonly Prompt[], { pid, messages, isRunning }: Past): Found {
  const [over, read]: [Missed[], Prompt[]] = [[], []];
  const texts = new Map<number, string>();
  for (const prompt of prompts) {
    const own = prompt.seq === undefined ? -1 : messages.findIndex(({ message }) => message === prompt.seq);
    // one that was read earlier may stand before the oldest of these
    const from = own < 0 && prompt.isRead ? 0 : own;
    if (from < 0) continue;
    const at = messages.findIndex((_, n) => n >= from && endsRun(messages, n, isRunning));
    const last = messages[at];
    if (last === undefined) read.push(prompt);
    else over.push({ prompt, end: endOf(last, pid) });
    if (last?.role === "assistant" && last.text !== "") texts.set(at, last.text);
  }
  return { over, texts: [...texts].sort(([a], [b]) => a - b).map(([, text]) => text), read };
}

/** A reply without calls is the last one of its run, unless a note makes the model go on. */
function endsRun(messages: readonly WireHistoryItem[], at: number, isRunning: boolean): boolean {
  const [item, next] = [messages[at], messages[at + 1]];
  if (item === undefined) return false;
  if (item.end !== undefined || item.text === INTERRUPTED_NOTE) return true;
  if (item.role !== "assistant" || item.calls.length > 0) return false;
  return next === undefined ? !isRunning : next.message !== undefined;
}

function endOf({ end, text }: WireHistoryItem, pid: number): PromptEnd {
  if (end !== undefined) return failedEnd(pid, end);
  return text === INTERRUPTED_NOTE ? { kind: "cancelled" } : { kind: "unseen" };
}

/** As its event would have told. */
export function failedEnd(pid: number, { outcome, message, reason, code, hint }: WireRunFailure): PromptEnd {
  if (message.startsWith("killed: ")) return { kind: "cancelled" };
  const more = hint === undefined ? {} : { hint };
  const error = isErrorCode(code) ? { error: { code, message, ...more } } : {};
  const event: IdleEvent = {
    ...{ event: "idle", pid, seq: 0, outcome, message, ...error },
    ...(isReason(reason) ? { reason } : {}),
    ...{ result: "", exit_code: 1, tokens_used: 0, elapsed_ms: 0, queued: 0 },
  };
  return { kind: "run", event, told: { stopReason: undefined, error: undefined } };
}

/** A newer daemon may have others. */
function isReason(reason: string | undefined): reason is Terminal["reason"] {
  return reason !== undefined && Object.hasOwn(ENDS, reason);
}
