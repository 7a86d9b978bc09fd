/**
 * The lines of a conversation, each made from one event of its stream or one message of its history; without final
 * newlines.
 */
import { type EndNotice, readNotice } from "../../abi/child.ts";
import { INTERRUPTED_NOTE } from "../../abi/events.ts";
import type { WireHistoryItem, WireSession } from "../../abi/methods/session.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type {
  IdleEvent,
  InputEvent,
  ModeEvent,
  PausedEvent,
  QueuedEvent,
  WithdrawnEvent,
} from "../../abi/wire-events.ts";
import { seconds } from "./text/elapsed.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";
import { cutToWidth } from "./text/width.ts";

export const PROMPT = "› ";

/** The mode shown before the line, empty for the usual one. */
const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  plan: "◇ plan ",
  dont_ask: "∅ don't ask ",
  default: "",
  accept_edits: "✎ accept edits ",
  auto: "▸ auto ",
  bypass: "! bypass ",
};

export function promptOf(mode: PermissionMode, paint: Paint): string {
  const word = MODE_WORDS[mode];
  const shown = mode === "bypass" ? paint.red(word) : paint.dim(word);
  return word === "" ? PROMPT : `${shown}${PROMPT}`;
}

export function modeLine({ pid, mode }: ModeEvent): string {
  return `${tag(pid)} ${mode} mode`;
}
const SHOWN_COLUMNS = 100;
const CALL_COLUMNS = 100;
/** The most characters shown of a message of the history. */
const HISTORY_CHARS = 4_000;

const tag = (pid: number): string => `[session/${pid}]`;

/** A message from another client or process. */
export function inputLine({ pid, from, client, text, joins }: InputEvent): string {
  const also = joins === true ? "read too: " : "";
  const ended = readNotice(text);
  const words = ended === undefined ? `${PROMPT}${text.trimEnd()}` : endedLine(ended);
  return `${tag(pid)} ${also}${speaker(from, client)} ${safeLines(words)}`;
}

/** The end of an agent in the background. */
export function endedLine({ summary, elapsedMs, tokens }: EndNotice): string {
  return `${summary} · ${seconds(elapsedMs)} · ${tokens} tokens`;
}

export function queuedLine(
  { pid, seq, from, client, text, ahead }: Omit<QueuedEvent, "event">,
  isMine: boolean,
) {
  const what = isMine ? "" : `${speaker(from, client)}: ${cutToWidth(safeLine(text), SHOWN_COLUMNS)} `;
  return `${tag(pid)} #${seq} ${what}${ahead === 0 ? "is read at the next step" : `waits, ${ahead} ahead`}`;
}

export function withdrawnLine({ pid, seq }: WithdrawnEvent): string {
  return `${tag(pid)} #${seq} taken back`;
}

export function pausedLine({ pid, is_paused }: Omit<PausedEvent, "event">): string {
  return is_paused ? `[agent/${pid}] paused; crux cont ${pid} resumes it` : `[agent/${pid}] resumed`;
}

export function idleLine(event: IdleEvent, paint: Paint): string {
  const { pid, outcome, tokens_used, elapsed_ms, queued } = event;
  const mark = outcome === "completed" ? paint.green(outcome) : paint.red(outcome);
  const more = queued > 0 ? ` | ${queued} waiting` : "";
  return `${tag(pid)} ${mark} | tokens: ${tokens_used} | elapsed: ${seconds(elapsed_ms)}${more}`;
}

export function openedLine({ pid, title, state, turns }: WireSession): string {
  const words = title === "" ? "" : ` "${cutToWidth(safeLine(title), SHOWN_COLUMNS)}"`;
  return `${tag(pid)}${words} (${state}, ${turns} ${turns === 1 ? "message" : "messages"})`;
}

export function historyLines({ role, text, calls }: WireHistoryItem, paint: Paint): string[] {
  const short = text.length > HISTORY_CHARS ? `${text.slice(0, HISTORY_CHARS).toWellFormed()}…` : text;
  const words = safeLines(short.trimEnd());
  if (isHouseNote(text)) return [];
  if (isNote(text)) return [paint.dim(words)];
  const ended = readNotice(text);
  if (ended !== undefined) return [paint.dim(safeLine(endedLine(ended)))];
  if (role === "user") return [paint.dim(`${PROMPT}${words}`)];
  const made = calls.map((call) => paint.dim(`  ${cutToWidth(safeLine(call), CALL_COLUMNS)}`));
  return words === "" ? made : [words, ...made];
}

/** The user left the session, which continues. */
export function leftLine(pid: number, isRunning: boolean): string {
  return `[session] PID ${pid} ${isRunning ? "continues" : "waits"}; crux -r ${pid}`;
}

/** A message in the user's role that the user did not type. */
export function isNote(text: string): boolean {
  return text === INTERRUPTED_NOTE || isHouseNote(text);
}

/** What Crux itself told the model beside the conversation. Nobody saw it when it was said. */
export function isHouseNote(text: string): boolean {
  return /^<crux-note>[\s\S]*<\/crux-note>$/.test(text);
}

function speaker(from: number, client: string): string {
  if (from !== 0) return `process ${from}`;
  return client === "" ? "another client" : `client ${safeLine(client)}`;
}
