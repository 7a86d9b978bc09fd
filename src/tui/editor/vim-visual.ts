/**
 * What keys do while a text is selected as in vi: motions and text objects change the selection, a verb acts on it. Pure.
 */
import type { Buffer } from "./buffer.ts";
import * as change from "./buffer.ts";
import { motionOf, objectOf, onCharacter, type Range, spelled } from "./vim-motions.ts";

/** The other end of the selection is the cursor. */
export interface Selection {
  readonly anchor: number;
  /** Whole lines. */
  readonly isLines: boolean;
}

/** What a key led to. "more": it begins a command. */
type Selected =
  | { readonly kind: "more" }
  | { readonly kind: "selecting"; readonly buffer: Buffer; readonly selection: Selection }
  | { readonly kind: "normal" | "insert"; readonly buffer: Buffer };

const COMMAND = /^(?<count>[1-9]\d*)?(?<what>gg|[fFtT].|[ia].|.)$/su;
const UNFINISHED = /^(?:[1-9]\d*)?[gfFtTia]?$/;
const MAX_COUNT = 1_000;
/** Other names of verbs. */
const SAME: Readonly<Record<string, string>> = { x: "d", s: "c" };
const INDENT = "  ";

/** What is selected, in order; of characters with the one at the later end, of lines with the last line break. */
export function selectedRange(buffer: Buffer, { anchor, isLines }: Selection): Range {
  const other = change.snapped(buffer, Math.min(anchor, buffer.text.length));
  const [first, last] = other.at < buffer.at ? [other, buffer] : [buffer, other];
  if (!isLines) return { from: first.at, to: change.right(last).at, isLines };
  const to = Math.min(buffer.text.length, change.lineEnd(last).at + 1);
  return { from: change.lineStart(first).at, to, isLines };
}

/** `keys`: those of the command so far. `find`: the last search for a character, for `;`. */
export function selectingKey(
  buffer: Buffer,
  selection: Selection,
  { keys, find }: { readonly keys: string; readonly find: string },
): Selected {
  if (UNFINISHED.test(keys)) return { kind: "more" };
  const { count = "1", what = "" } = COMMAND.exec(keys)?.groups ?? {};
  const times = Math.min(MAX_COUNT, Number(count));
  const isLines = what === "V";
  if (what === "v" || isLines)
    return selection.isLines === isLines
      ? { kind: "normal", buffer }
      : { kind: "selecting", buffer, selection: { ...selection, isLines } };
  if (what === "o")
    return {
      kind: "selecting",
      buffer: change.snapped(buffer, selection.anchor),
      selection: { ...selection, anchor: buffer.at },
    };
  const verb = SAME[what] ?? what;
  if (/^[dcy<>]$/.test(verb)) return acted(buffer, selection, { verb, count: times });
  return extended(buffer, selection, { what: spelled(what, find), count: times });
}

function extended(
  buffer: Buffer,
  selection: Selection,
  { what, count }: { readonly what: string; readonly count: number },
): Selected {
  const to = (at: number): Selected => ({
    kind: "selecting",
    buffer: onCharacter(change.snapped(buffer, at)),
    selection,
  });
  const object = /^[ia]./su.test(what) ? objectOf(what, buffer) : undefined;
  if (object !== undefined && object.from < object.to)
    return {
      kind: "selecting",
      buffer: change.left({ ...buffer, at: object.to }),
      selection: { ...selection, anchor: object.from },
    };
  if (what === "j" || what === "k") {
    let now = buffer;
    for (let left = count; left > 0; left--) now = (what === "j" ? change.down(now) : change.up(now)) ?? now;
    return { kind: "selecting", buffer: now, selection };
  }
  const motion = motionOf(what, buffer, what === "G" && count === 1 ? Number.MAX_SAFE_INTEGER : count);
  return to(motion?.to ?? buffer.at);
}

function acted(
  buffer: Buffer,
  selection: Selection,
  { verb, count }: { readonly verb: string; readonly count: number },
): Selected {
  if (verb === "<" || verb === ">")
    return { kind: "normal", buffer: shifted(buffer, selection, verb, count) };
  const { from, to, isLines } = selectedRange(buffer, selection);
  const taken = buffer.text.slice(from, to);
  const held = { ...buffer, cut: isLines && !taken.endsWith("\n") ? `${taken}\n` : taken };
  if (verb === "y") return { kind: "normal", buffer: change.snapped(held, from) };
  const hasBreak = isLines && taken.endsWith("\n");
  // of a change of lines an empty one stays; the last line goes with the break before it
  if (verb === "c")
    return { kind: "insert", buffer: change.replacedRange(held, from, hasBreak ? to - 1 : to, "") };
  const begin = isLines && !hasBreak && from > 0 ? from - 1 : from;
  const next = change.replacedRange(held, begin, to, "");
  return { kind: "normal", buffer: isLines ? change.lineStart(next) : next };
}

/** The lines that are selected, in part too; blank ones stay as they are. */
function shifted(buffer: Buffer, { anchor }: Selection, verb: "<" | ">", count: number): Buffer {
  const { from, to } = selectedRange(buffer, { anchor, isLines: true });
  const text = buffer.text.slice(from, to);
  const by = Math.min(count, 20);
  const put =
    verb === ">"
      ? text.replace(/^(?=[^\n])/gm, INDENT.repeat(by))
      : text.replace(new RegExp(`^(?:\\t| {1,${INDENT.length}}){1,${by}}`, "gm"), "");
  return put === text
    ? change.snapped(buffer, from)
    : { ...change.replacedRange(buffer, from, to, put), at: from };
}
