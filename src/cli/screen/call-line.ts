/**
 * The line of one call: a mark, the tool, its argument, its outcome. Made from data alone, and never wider than
 * requested.
 */
import type { CallFacts, CallNote } from "../../abi/call-note.ts";
import type { ChildEvent } from "../../abi/wire-events.ts";
import { byteSize } from "./byte-size.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";
import { cutToWidth, widthOf } from "./text/width.ts";
import { en, type Phrases } from "./words/en.ts";

type CallWords = Phrases["call"];

const MAX_TOOL_COLUMNS = 40;

export function callLine(
  call: Readonly<CallNote>,
  columns: number,
  { paint, words = en.call }: { readonly paint: Paint; readonly words?: CallWords },
): string {
  const hasFailed = call.error !== undefined || call.refused === true;
  const head = cutToWidth(safeLine(call.tool), Math.min(MAX_TOOL_COLUMNS, Math.max(1, columns - 2)));
  const about = safeLine(call.about);
  const room = Math.max(0, columns - 2 - widthOf(head));
  // the argument may take up to half of the room
  const end = fitted(outcomeOf(call, words), room - Math.min(widthOf(` ${about}`), Math.floor(room / 2)));
  const shown = fitted(about, room - widthOf(end));
  const isOver = call.facts?.job === undefined;
  const mark = hasFailed ? paint.red("✗") : isOver ? paint.green("●") : paint.dim("○");
  const outcome = end === "" ? "" : isBad(call) ? paint.red(end) : paint.dim(end);
  return `${mark} ${head}${shown}${outcome}`;
}

/** An agent has begun: its end has a line of its own (`callLine`). */
export function childLine({ child, agent, title }: ChildEvent, columns: number, paint: Paint): string {
  const head = `agent${agent === "" ? "" : ` ${safeLine(agent)}`}`;
  const shown = cutToWidth(head, Math.min(MAX_TOOL_COLUMNS, Math.max(1, columns - 2)));
  const room = Math.max(0, columns - 2 - widthOf(shown));
  const end = fitted(`pid ${child}`, room);
  return `${paint.dim("○")} ${shown}${fitted(safeLine(title), room - widthOf(end))}${paint.dim(end)}`;
}

/** With a leading blank; "" if not even one character fits. */
function fitted(text: string, columns: number): string {
  return text === "" || columns < 3 ? "" : ` ${cutToWidth(text, columns - 1)}`;
}

function outcomeOf({ error, refused, facts }: Readonly<CallNote>, words: CallWords): string {
  if (refused === true) return `→ ${words.refused}`;
  if (error !== undefined) return `→ ${error === "" ? words.failed : safeLine(error)}`;
  return facts === undefined ? "" : factsWords(facts, words).join(" ");
}

function factsWords(facts: CallFacts, words: CallWords): readonly string[] {
  const { count, added, removed, exit, signal, job, status, bytes, done, now } = facts;
  const answer = [status, bytes === undefined ? undefined : byteSize(bytes)].filter((of) => of !== undefined);
  return [
    ...(added === undefined ? [] : [`+${added}`]),
    ...(removed === undefined ? [] : [`−${removed}`]),
    ...(count === undefined ? [] : [words.count(count.n, count.of)]),
    ...(answer.length === 0 ? [] : [answer.join(", ")]),
    ...(done === undefined ? [] : [words.done(done.n, done.of)]),
    ...(now === undefined ? [] : [`→ ${safeLine(now)}`]),
    ...(exit === undefined ? [] : [`→ ${words.exit(exit)}`]),
    ...(signal === undefined ? [] : [`→ ${words.endedBy(safeLine(signal))}`]),
    ...(job === undefined ? [] : [`→ ${words.runsOn(safeLine(job))}`]),
  ];
}

function isBad({ error, refused, facts }: Readonly<CallNote>): boolean {
  return error !== undefined || refused === true || (facts?.exit ?? 0) !== 0 || facts?.signal !== undefined;
}
