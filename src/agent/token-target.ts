/**
 * How much the user wants a run to write: `+500k` at the start or end of a message (setting `tokenTarget`). The model does not
 * see the mark; where it would end before that, it is asked to continue. An aim, never a right: every limit of the account comes
 * first. Pure.
 */
import type { ShownTarget } from "../abi/context.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import type { Continue } from "../abi/loop.ts";
import type { ProgramStart, RunInput } from "../abi/program.ts";
import type { ContextMessage, Prompt } from "../abi/sys.ts";

/** Part of the position of the loop. Output tokens. */
export interface TokenTarget {
  readonly aim: number;
  /** Of the replies that are in the context. */
  readonly spent: number;
  /** How often the model was asked to continue, and the tokens since then. */
  readonly nudges: number;
  readonly since: number;
  /** Of these, how many in a row brought next to nothing. */
  readonly low: number;
}

/** From this share on, an end is the end. */
const ENOUGH = 0.9;
const LITTLE_TOKENS = 500;
const MOST_LOW = 2;
const MOST_TOKENS = 100_000_000;

const MARK = String.raw`\+(\d{1,9}(?:\.\d{1,3})?)([km])`;
const AT_START = new RegExp(`^\\s*${MARK}(?=\\s)\\s*`, "i");
const AT_END = new RegExp(`\\s+${MARK}\\s*$`, "i");

/** `rest`: the text without the mark. undefined: there is none, or nothing beside it. */
function findMark(text: string): { readonly tokens: number; readonly rest: string } | undefined {
  // most messages end here
  if (!text.includes("+")) return undefined;
  const found = AT_START.exec(text) ?? AT_END.exec(text);
  if (found === null) return undefined;
  const tokens = Math.round(Number(found[1]) * (found[2]?.toLowerCase() === "k" ? 1_000 : 1_000_000));
  const rest = text.slice(0, found.index) + text.slice(found.index + found[0].length);
  if (tokens < 1 || tokens > MOST_TOKENS || rest.trim() === "") return undefined;
  return { tokens, rest };
}

/** What a message of the user sets; null: no target, or the setting is off. */
export function tokenTargetOf(
  { window }: Pick<ProgramStart, "window">,
  { from, text }: Pick<RunInput, "from" | "text">,
): TokenTarget | null {
  const found = window?.targets === true && from === PID_KERNEL ? findMark(text) : undefined;
  return found === undefined ? null : { aim: found.tokens, spent: 0, nudges: 0, since: 0, low: 0 };
}

/** A message stays the same object in every request: what was counted of it counts again. */
const shown = new WeakMap<ContextMessage, ContextMessage>();

/** The prompt as the model sees it: the journal keeps what the user wrote. */
export function unmarked({ window }: Pick<ProgramStart, "window">, prompt: Prompt): Prompt {
  if (window?.targets !== true) return prompt;
  return { ...prompt, messages: prompt.messages.map(withoutMark) };
}

function withoutMark(message: ContextMessage): ContextMessage {
  if (message.role !== "user") return message;
  const known = shown.get(message);
  if (known !== undefined) return known;
  const found = findMark(message.content);
  if (found === undefined) return message;
  const bare = { ...message, content: found.rest };
  shown.set(message, bare);
  return bare;
}

/** With a reply that enters the context, or was dropped: it is paid for in any case. */
function withReply(target: TokenTarget, { usage }: Pick<Reply, "usage">): TokenTarget {
  const more = usage.output_tokens;
  return { ...target, spent: target.spent + more, since: target.since + more };
}

function lowOf({ nudges, since, low }: TokenTarget): number {
  return nudges === 0 || since >= LITTLE_TOKENS ? 0 : low + 1;
}

/** Whether a run that would end with this reply continues; undefined: it ends. */
export function continuation(
  target: TokenTarget | null,
  reply: Reply,
): Extract<Continue, { reason: "token_budget_continuation" }> | undefined {
  if (target === null) return undefined;
  const now = withReply(target, reply);
  if (isNear(now) || lowOf(now) >= MOST_LOW) return undefined;
  return { reason: "token_budget_continuation", outputTokens: now.spent };
}

/** After the loop has decided to ask again. */
export function advanced(
  target: TokenTarget | null,
  { reason }: Pick<Continue, "reason">,
  reply: Reply | undefined,
): TokenTarget | null {
  if (target === null || reply === undefined) return target;
  const now = withReply(target, reply);
  if (reason !== "token_budget_continuation") return now;
  return { ...now, nudges: now.nudges + 1, since: 0, low: lowOf(now) };
}

function isNear({ aim, spent }: TokenTarget): boolean {
  return spent >= aim * ENOUGH;
}

/** What the model is told instead of the end of the run. */
export function nudge({ aim, spent }: TokenTarget): string {
  return (
    `<crux-note>The user wants about ${counted(aim)} output tokens of work on this; so far it is ${counted(spent)}. Continue: ` +
    "look for what is missing, go deeper, check what you have done. Do not sum up yet.</crux-note>"
  );
}

/** What the model is told once, where its calls bring it near the target; undefined: nothing. */
export function finishUp(before: TokenTarget | null, after: TokenTarget | null): string | undefined {
  if (before === null || after === null || isNear(before) || !isNear(after)) return undefined;
  return (
    `<crux-note>The user wanted about ${counted(after.aim)} output tokens of work on this, and ${counted(after.spent)} are ` +
    "written. Finish what you are doing, then end.</crux-note>"
  );
}

/** The line in the log; `end`: with the last reply of the run. */
export function progress(target: TokenTarget, end?: Reply): string {
  const now = end === undefined ? target : withReply(target, end);
  const words =
    end === undefined ? ", so the model is asked to continue" : isNear(now) ? "" : ", and no more came";
  return `token target: ${counted(now.spent)} of ${counted(now.aim)} output tokens${words}`;
}

function counted(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** For whoever looks at the process: with the reply that has just come. */
export function shownTarget(target: TokenTarget, { usage }: Pick<Reply, "usage">): ShownTarget {
  return { aim: target.aim, spent: target.spent + usage.output_tokens };
}
