/** One entry of the transcript as lines: pure. Text of models and tools goes through the sanitizer here, and nowhere later. */
import type { CallNote } from "../../abi/call-note.ts";
import { readNotice } from "../../abi/child.ts";
import { callLine } from "../../cli/screen/call-line.ts";
import { endedLine } from "../../cli/screen/chat-lines.ts";
import { PLAIN } from "../../cli/screen/text/paint.ts";
import { safeLine, safeLines } from "../../cli/screen/text/safe-text.ts";
import { widthOf } from "../../cli/screen/text/width.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { aboutInput } from "../../lib/text/about-input.ts";
import type { AsideEntry, CallEntry, NoticeLevel, ShellEntry, TranscriptEntry } from "../state/model.ts";
import { colouredLine, cutLine, type Line, wrapped } from "../text/line.ts";
import { type MarkdownLook, markdownLines } from "../text/markdown.ts";
import type { Paint } from "../text/theme.ts";
import { detailLines, printedRows } from "./call-details.ts";

export interface EntryLook extends MarkdownLook {
  readonly words: Phrases;
  /** Calls with their arguments, output and diff, thinking in full. */
  readonly isUnfolded: boolean;
  /** How many rows a call that runs has for what it prints, and the time now; absent: it has none. */
  readonly live?: { readonly rows: number; readonly nowMono: number };
  /** Only the last so many characters of a text are looked at; absent: all. */
  readonly tailChars?: number;
}

/** Wider than any line of a call. */
const ANY_WIDTH = 100_000;
/** Of what went wrong with a call. */
const ERROR_CHARS = 400;

/** The most lines of a shell line's output, at its begin and its end. */
const SHELL_HEAD = 20;
const SHELL_TAIL = 20;

/** Of a long message of the user likewise: they know what they have pasted. */
const SAID_HEAD = 10;
const SAID_TAIL = 5;

const NOTICE: Readonly<Record<NoticeLevel, { readonly mark: string; readonly role: Paint }>> = {
  info: { mark: "·", role: "dim" },
  success: { mark: "✓", role: "success" },
  warning: { mark: "!", role: "warning" },
  error: { mark: "✗", role: "error" },
};

const ENDED: Readonly<Record<string, NoticeLevel>> = { completed: "success", failed: "error" };

/** With a blank line before what begins something new. */
export function entryLines(entry: TranscriptEntry, look: EntryLook): readonly Line[] {
  const { theme, width } = look;
  switch (entry.kind) {
    case "user":
      return [[], ...userLines(entry.text, entry.from, look)];
    case "text":
      return below([], marked(entry.isCut === true ? "○ " : "● ", entry.text, look));
    case "thinking":
      return thinkingLines(entry, look);
    case "call":
      return [
        ...callHead(entry, look),
        ...(look.isUnfolded ? detailLines(entry, look) : printedLines(entry, look)),
      ];
    case "shell":
      return shellLines(entry, look);
    case "aside":
      return asideLines(entry, look);
    case "notice": {
      const { mark, role } = NOTICE[entry.level];
      return hung(`${mark} `, entry.text, look, theme[role]);
    }
    case "output":
      return [[], [{ text: entry.title, style: theme.accent }], ...coloured(entry.text, width)];
  }
}

/** What is not on the screen for good yet: of a text that went there in parts, as it came, the blocks after those. */
export function restLines(entry: TranscriptEntry, look: EntryLook): readonly Line[] {
  const shown = "shown" in entry ? entry.shown : undefined;
  if (shown === undefined) return entryLines(entry, look);
  const rest = entry.kind === "text" ? entry.text.slice(shown.chars) : "";
  const lines = marked("  ", rest, look, shown.item);
  return shown.item === undefined ? below([{ text: "  ", style: look.theme.text }], lines) : lines;
}

function below(gap: Line, lines: readonly Line[]): readonly Line[] {
  return lines.length === 0 ? lines : [gap, ...lines];
}

/** How the message begins that tells of the end of a job. */
const JOB_ENDED = /^job-\d+ ended: /;

function userLines(text: string, from: string, look: EntryLook): Line[] {
  const who = from === "" ? "" : `${from}: `;
  const ended = readNotice(text);
  if (ended !== undefined) {
    const { mark, role } = NOTICE[ENDED[ended.status] ?? "warning"];
    const result = look.isUnfolded && ended.result !== "" ? `\n${ended.result}` : "";
    return hung(`${mark} `, `${who}${endedLine(ended, look.words)}${result}`, look, look.theme[role]);
  }
  // nobody said it
  if (JOB_ENDED.test(text)) return hung("· ", `${who}${text}`, look, look.theme.dim);
  const rows = text.trimEnd().split("\n");
  const more = rows.length - SAID_HEAD - SAID_TAIL;
  const shown =
    look.isUnfolded || more <= SAID_TAIL
      ? rows
      : [...rows.slice(0, SAID_HEAD), look.words.entry.hidden(more), ...rows.slice(-SAID_TAIL)];
  return hung("› ", `${who}${shown.join("\n")}`, look, look.theme.accent);
}

/** Foreign text with a mark before its first line; the others stand below it. */
function hung(mark: string, text: string, { width }: EntryLook, style: string): Line[] {
  return safeLines(text)
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line, at) =>
      wrapped(
        [
          { text: at === 0 ? mark : "  ", style },
          { text: line, style },
        ],
        width,
        "  ",
      ),
    );
}

function marked(mark: string, text: string, look: EntryLook, item?: number): Line[] {
  if (text.trim() === "") return [];
  const body = markdownLines(tailOf(text, look.tailChars), { ...look, width: look.width - 2 }, item);
  return body.map((line, at): Line => [{ text: at === 0 ? mark : "  ", style: look.theme.text }, ...line]);
}

/** The end of a text that still grows, from the begin of a paragraph, inside of a fence where it is inside of one. */
function tailOf(text: string, chars: number | undefined): string {
  if (chars === undefined || text.length <= chars) return text;
  const cut = text.indexOf("\n", text.length - chars);
  const from = cut < 0 ? text.length - chars : cut + 1;
  const fences = text.slice(0, from).match(/^(?:```|~~~).*$/gm) ?? [];
  return fences.length % 2 === 0 ? text.slice(from) : `${fences.at(-1) ?? "```"}\n${text.slice(from)}`;
}

/** How it begins; while it grows, its end. */
function thinkingLines(
  { text, isFinal: isOver }: { text: string; isFinal: boolean },
  look: EntryLook,
): Line[] {
  const words = text.trim();
  if (words === "") return [];
  const style = look.theme.dim;
  if (look.isUnfolded) return [[], ...hung("∴ ", words, look, style)];
  const [first = ""] = words.split("\n", 1);
  const shown = isOver ? first : endOf(words.slice(words.lastIndexOf("\n") + 1), look.width - 2);
  const line = [
    { text: "∴ ", style },
    { text: safeLine(shown), style },
  ];
  return [cutLine(line, look.width)];
}

/** The last words that fit. */
function endOf(line: string, width: number): string {
  const tail = line.slice(-width);
  if (tail === line && widthOf(line) <= width) return line;
  const ends = [...tail.matchAll(/\s+(?=\S)/g)].map((gap) => `… ${tail.slice(gap.index + gap[0].length)}`);
  return (
    ends.find((end) => widthOf(end) <= width) ?? `…${tail.slice(-Math.floor(width / 2) + 1).toWellFormed()}`
  );
}

/** The output is foreign; of a long one the begin and the end. */
function shellLines({ command, output, exit, isFinal }: ShellEntry, look: EntryLook): Line[] {
  const { theme, width, isUnfolded, tailChars } = look;
  const words = look.words.entry;
  const text = output.replace(/\r\n/g, "\n").trimEnd();
  const rows = text === "" ? [] : text.split("\n").map((row) => row.slice(row.lastIndexOf("\r") + 1));
  const shown =
    isUnfolded || rows.length <= SHELL_HEAD + SHELL_TAIL
      ? rows
      : [
          ...(tailChars === undefined ? rows.slice(0, SHELL_HEAD) : []),
          words.hidden(rows.length - SHELL_HEAD - SHELL_TAIL),
          ...rows.slice(-SHELL_TAIL),
        ];
  const body = shown.flatMap((row) => coloured(row.replaceAll("\t", "    "), width - 2));
  const how = !isFinal ? words.running : exit === undefined || exit === "0" ? "" : words.exit(exit);
  const end = how === "" ? [] : hung("  ", how, look, isFinal ? theme.error : theme.dim);
  return [
    [],
    ...hung("! ", command, look, theme.warning),
    ...body.map((line): Line => [{ text: "  ", style: "" }, ...line]),
    ...end,
  ];
}

function asideLines({ question, text, problem, isFinal }: AsideEntry, look: EntryLook): Line[] {
  const { theme, words } = look;
  const body = text.trim() === "" ? [] : marked("  ", text, look);
  const how = isFinal ? problem : words.entry.asked;
  const end = how === "" ? [] : hung("  ", how, look, isFinal ? theme.error : theme.dim);
  return [[], ...hung("? ", question, look, theme.accent), ...body, ...end];
}

/** The last lines that a call has printed which still runs. */
function printedLines({ printed, isFinal }: CallEntry, { live, theme, width }: EntryLook): Line[] {
  if (printed === undefined || live === undefined || isFinal) return [];
  return printedRows(printed.text)
    .slice(-live.rows)
    .map((row) =>
      cutLine(
        [
          { text: "  │ ", style: theme.border },
          { text: row, style: theme.dim },
        ],
        width,
      ),
    );
}

/** What went wrong has rows of its own where it would be cut. */
function callHead(entry: CallEntry, look: EntryLook): Line[] {
  const { theme, width, words } = look;
  const { note, result } = entry;
  const known = withReason(note ?? noteOf(entry), words.entry);
  const { error, ...call } = known;
  const how = { paint: PLAIN, words: words.call };
  const isCut = error !== undefined && error !== "" && widthOf(callLine(known, ANY_WIDTH, how)) > width;
  const time = timeOf(entry, look);
  const [, ...rest] = [...callLine(isCut ? call : known, width - widthOf(time), how)];
  const mark = error === undefined ? "●" : "✗";
  // told of its end before the results of all calls of its reply are there; it may go on in the background, and of one that was
  // cut off it is not known how far it came
  const isOver = (result !== undefined || note !== undefined) && note?.facts?.job === undefined;
  const role: Paint = !isOver ? "dim" : error !== undefined ? "error" : "success";
  const head: Line = [
    { text: isOver ? mark : "○", style: theme[role] },
    { text: rest.join(""), style: isOver ? "" : theme.dim },
    ...(time === "" ? [] : [{ text: time, style: theme.dim }]),
  ];
  return isCut ? [head, ...hung("  ", error.slice(0, ERROR_CHARS), look, theme[role])] : [head];
}

/** How long a call that prints has run. */
function timeOf({ printed, isFinal }: CallEntry, { live }: EntryLook): string {
  if (printed === undefined || live === undefined || isFinal) return "";
  return ` · ${Math.floor((live.nowMono - printed.beganMono) / 1000)}s`;
}

const FAULT = /^Error \[[A-Z_]+\]: /;
const REFUSED = /^Permission denied(?: by user)?(?:: |$)/;

/** What was refused by other than the user says why. */
function withReason({ refused, ...note }: CallNote, words: Phrases["entry"]): CallNote {
  if (refused !== true) return note;
  const why = (note.error ?? "").replace(REFUSED, "");
  return { ...note, error: why === "" ? words.refused : words.refusedFor(why) };
}

/** Why the call failed: its first line, or where it had produced something before, the last one that says so. */
function failureIn(result: string): string {
  const [first = ""] = result.split("\n", 1);
  const said = FAULT.test(first) ? first : result.split("\n").findLast((line) => FAULT.test(line));
  return (said ?? first).replace(FAULT, "");
}

/** As far as its result says it. */
function noteOf({ tool, input, result = "", isError }: CallEntry): CallNote {
  const about = aboutInput(input);
  if (isError !== true) return { tool, about };
  const error = failureIn(result.trim());
  return { tool, about, error, ...(REFUSED.test(error) ? { refused: true } : {}) };
}

/** What commands printed; what does not fit goes on below, indented. */
function coloured(text: string, width: number): Line[] {
  return text.split("\n").flatMap((row) => wrapped(colouredLine(row), width, `${/^ */.exec(row)?.[0]}  `));
}
