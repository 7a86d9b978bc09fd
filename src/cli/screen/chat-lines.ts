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
import { findShellNote, type ShellLine } from "../../lib/text/shell-line.ts";
import { hintLine } from "./errors.ts";
import { runErrorLine } from "./run-lines.ts";
import { seconds } from "./text/elapsed.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";
import { cutToWidth } from "./text/width.ts";
import { en, type Phrases } from "./words/en.ts";

export const PROMPT = "› ";

/** Each mode has a word, a symbol and a colour of its own name. */
const MODE_MARKS: Readonly<Record<PermissionMode, string>> = {
  ...{ plan: "◇", dont_ask: "∅", default: "○", accept_edits: "✎", auto: "▸", bypass: "!" },
};

export function modeWord(mode: PermissionMode, { modes }: Phrases["modeLine"] = en.modeLine): string {
  return `${MODE_MARKS[mode]} ${modes[mode]}`;
}

/** The mode stands before the line, but for the usual one. */
export function promptOf(mode: PermissionMode, paint: Paint, words: Phrases = en): string {
  const word = mode === "default" ? "" : `${modeWord(mode, words.modeLine)} `;
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
export function inputLine({ pid, from, client, text, joins }: InputEvent, words: Phrases): string {
  const also = joins === true ? words.lines.readToo : "";
  const ended = readNotice(text);
  const line = from === 0 ? findShellNote(text) : undefined;
  const other = line === undefined ? `${PROMPT}${text.trimEnd()}` : shellText(line, words);
  const said = ended === undefined ? other : endedLine(ended, words);
  return `${tag(pid)} ${also}${speaker(from, client, words)} ${safeLines(said)}`;
}

/** A line that the user's shell has run, and what it printed. */
function shellText({ command, exit, output }: ShellLine, { entry }: Phrases): string {
  const text = output.trimEnd();
  return [`! ${command}`, ...(text === "" ? [] : [text]), ...(exit === "0" ? [] : [entry.exit(exit)])].join(
    "\n",
  );
}

/** The end of an agent in the background. */
export function endedLine({ summary, elapsedMs, tokens }: EndNotice, { session }: Phrases): string {
  return session.ended(summary, seconds(elapsedMs), tokens);
}

export function queuedLine(
  { pid, seq, from, client, text, ahead }: Omit<QueuedEvent, "event">,
  isMine: boolean,
  words: Phrases = en,
) {
  const what = isMine ? "" : `${speaker(from, client, words)}: ${cutToWidth(safeLine(text), SHOWN_COLUMNS)} `;
  return `${tag(pid)} #${seq} ${what}${ahead === 0 ? words.lines.nextStep : words.lines.ahead(ahead)}`;
}

export function withdrawnLine({ pid, seq }: WithdrawnEvent, words: Phrases): string {
  return `${tag(pid)} #${seq} ${words.lines.takenBack}`;
}

export function pausedLine({ pid, is_paused }: Omit<PausedEvent, "event">, words: Phrases = en): string {
  return `[agent/${pid}] ${is_paused ? words.session.paused(pid) : words.session.resumed}`;
}

export function idleLine(event: IdleEvent, paint: Paint, words: Phrases = en): string {
  const { pid, outcome, tokens_used, elapsed_ms, queued } = event;
  const { lines, entry } = words;
  const mark = (outcome === "completed" ? paint.green : paint.red)(entry.outcome[outcome]);
  const more = queued > 0 ? ` | ${lines.waiting(queued)}` : "";
  const use = `${lines.tokens}: ${tokens_used} | ${lines.elapsed}: ${seconds(elapsed_ms)}`;
  return `${tag(pid)} ${mark} | ${use}${more}`;
}

export function openedLine({ pid, title, state, turns }: WireSession, words: Phrases): string {
  const name = title === "" ? "" : ` "${cutToWidth(safeLine(title), SHOWN_COLUMNS)}"`;
  const { states, messages } = words.session;
  // a fork has the messages of its origin, which are none of its turns
  return `${tag(pid)}${name} (${states[state]}${turns === 0 ? "" : `, ${messages(turns)}`})`;
}

/** A message, and how the run ended after it where it did not end well. */
export function historyLines(item: WireHistoryItem, pid: number, { paint, words }: Look): string[] {
  const { end } = item;
  const said = saidLines(item, paint, words);
  if (end === undefined) return said;
  const hint = end.hint === undefined ? [] : [hintLine(end.hint, words.faults)];
  return [...said, paint.red(runErrorLine(pid, end.message)), ...hint];
}

interface Look {
  readonly paint: Paint;
  readonly words: Phrases;
}

function saidLines({ role, text, calls }: WireHistoryItem, paint: Paint, catalogue: Phrases): string[] {
  const short = text.length > HISTORY_CHARS ? `${text.slice(0, HISTORY_CHARS).toWellFormed()}…` : text;
  const words = safeLines(short.trimEnd());
  if (isHouseNote(text)) return [];
  if (isNote(text)) return [paint.dim(words)];
  const ended = readNotice(text);
  if (ended !== undefined) return [paint.dim(safeLine(endedLine(ended, catalogue)))];
  const line = role === "user" ? findShellNote(text) : undefined;
  if (line !== undefined) return [paint.dim(safeLines(shellText(line, catalogue)))];
  if (role === "user") return [paint.dim(`${PROMPT}${words}`)];
  const made = calls.map((call) => paint.dim(`  ${cutToWidth(safeLine(call), CALL_COLUMNS)}`));
  return words === "" ? made : [words, ...made];
}

/** The user left the session, which continues. */
export function leftLine(pid: number, isRunning: boolean, words: Phrases = en): string {
  return `[session] ${words.session.left(pid, isRunning)}`;
}

/** A message in the user's role that the user did not type. */
export function isNote(text: string): boolean {
  return text === INTERRUPTED_NOTE || isHouseNote(text);
}

/** What Crux itself told the model beside the conversation. Nobody saw it when it was said. */
export function isHouseNote(text: string): boolean {
  return /^<crux-note>[\s\S]*<\/crux-note>$/.test(text);
}

function speaker(from: number, client: string, { entry, lines }: Phrases): string {
  if (from !== 0) return entry.process(from);
  return client === "" ? entry.otherClient : lines.client(safeLine(client));
}
