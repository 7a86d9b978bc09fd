/**
 * The line of one call: a mark, the tool, its argument, its outcome. Made from data alone, and never wider than
 * requested.
 */
import type { CallFacts, CallNote, CountUnit } from "../../abi/call-note.ts";
import type { ChildEvent } from "../../abi/wire-events.ts";
import { byteSize } from "./byte-size.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";
import { cutToWidth, widthOf } from "./text/width.ts";

const MAX_TOOL_COLUMNS = 40;

const PLURALS: Readonly<Record<CountUnit, string>> = {
  line: "lines",
  match: "matches",
  file: "files",
  changed: "changed",
  entry: "entries",
  page: "pages",
  cell: "cells",
  result: "results",
  task: "tasks",
  tool: "tools",
};

export function callLine(call: Readonly<CallNote>, columns: number, paint: Paint): string {
  const hasFailed = call.error !== undefined || call.refused === true;
  const head = cutToWidth(safeLine(call.tool), Math.min(MAX_TOOL_COLUMNS, Math.max(1, columns - 2)));
  const about = safeLine(call.about);
  const room = Math.max(0, columns - 2 - widthOf(head));
  // the argument may take up to half of the room
  const end = fitted(outcomeOf(call), room - Math.min(widthOf(` ${about}`), Math.floor(room / 2)));
  const shown = fitted(about, room - widthOf(end));
  const mark = hasFailed ? paint.red("✗") : paint.green("●");
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

function outcomeOf({ error, refused, facts }: Readonly<CallNote>): string {
  if (refused === true) return "→ refused";
  if (error !== undefined) return `→ ${error === "" ? "failed" : safeLine(error)}`;
  return facts === undefined ? "" : factsWords(facts).join(" ");
}

function factsWords(facts: CallFacts): readonly string[] {
  const { count, added, removed, exit, signal, job, status, bytes, done, now } = facts;
  const answer = [status, bytes === undefined ? undefined : byteSize(bytes)].filter((of) => of !== undefined);
  return [
    ...(added === undefined ? [] : [`+${added}`]),
    ...(removed === undefined ? [] : [`−${removed}`]),
    ...(count === undefined ? [] : [`${count.n} ${count.n === 1 ? count.of : PLURALS[count.of]}`]),
    ...(answer.length === 0 ? [] : [answer.join(", ")]),
    ...(done === undefined ? [] : [`${done.n} of ${done.of} done`]),
    ...(now === undefined ? [] : [`→ ${safeLine(now)}`]),
    ...(exit === undefined ? [] : [`→ exit ${exit}`]),
    ...(signal === undefined ? [] : [`→ ended by ${safeLine(signal)}`]),
    ...(job === undefined ? [] : [`→ runs on as ${safeLine(job)}`]),
  ];
}

function isBad({ error, refused, facts }: Readonly<CallNote>): boolean {
  return error !== undefined || refused === true || (facts?.exit ?? 0) !== 0 || facts?.signal !== undefined;
}
