/**
 * Changes one value in JSON text and leaves every other byte as it is: order, spaces, numbers and unknown keys. The
 * text must be JSON (RFC 8259): the caller has parsed it.
 */

/** Sets the value at `path`. On the way, missing objects are created and values that are not objects are replaced. */
export function withJsonValue(text: string, path: readonly string[], value: unknown): string {
  const source = text.trim() === "" ? "{}\n" : text;
  const { start, end } = valueAt(source, skipSpace(source, 0));
  const change = new Change(value, styleOf(source));
  return source.slice(0, start) + change.in(source.slice(start, end), path, 0) + source.slice(end);
}

/** Removes the value at `path` with its name; returns the same text if there is no value. */
export function withoutJsonValue(text: string, path: readonly string[]): string {
  if (text.trim() === "") return text;
  const { start, end } = valueAt(text, skipSpace(text, 0));
  return text.slice(0, start) + removed(text.slice(start, end), path) + text.slice(end);
}

function removed(text: string, path: readonly string[]): string {
  const [key, ...rest] = path;
  if (key === undefined || !text.startsWith("{")) return text;
  const members = membersOf(text);
  const at = members.findLastIndex((each) => each.key === key);
  const member = members[at];
  if (member === undefined) return text;
  if (rest.length > 0) {
    const inner = removed(text.slice(member.start, member.end), rest);
    return text.slice(0, member.start) + inner + text.slice(member.end);
  }
  const [before, next] = [members[at - 1], members[at + 1]];
  // remove earlier members of the same name too: one of them would take effect
  if (next !== undefined) return removed(text.slice(0, member.from) + text.slice(next.from), path);
  if (before !== undefined) return removed(text.slice(0, before.end) + text.slice(member.end), path);
  return "{}";
}

interface Style {
  readonly indent: string;
  readonly newline: string;
}

interface Member {
  readonly key: string;
  /** The offset of its name. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

class Change {
  readonly #value: unknown;
  readonly #style: Style;

  constructor(value: unknown, style: Style) {
    this.#value = value;
    this.#style = style;
  }

  in(text: string, path: readonly string[], depth: number): string {
    const [key, ...rest] = path;
    if (key === undefined) return written(this.#value, this.#style, depth);
    if (!text.startsWith("{")) return this.in("{}", path, depth);
    // of two members with the same name the last one takes effect
    const member = membersOf(text).findLast((each) => each.key === key);
    if (member === undefined)
      return this.#added(text, `${JSON.stringify(key)}: ${this.in("{}", rest, depth + 1)}`, depth);
    const inner = this.in(text.slice(member.start, member.end), rest, depth + 1);
    return text.slice(0, member.start) + inner + text.slice(member.end);
  }

  #added(text: string, member: string, depth: number): string {
    const { newline, indent } = this.#style;
    const onOwnLine = `${newline}${indent.repeat(depth + 1)}${member}`;
    const last = membersOf(text).at(-1);
    if (last === undefined) return `{${onOwnLine}${newline}${indent.repeat(depth)}}`;
    const isOnOneLine = !text.includes("\n") && depth > 0;
    return `${text.slice(0, last.end)},${isOnOneLine ? ` ${member}` : onOwnLine}${text.slice(last.end)}`;
  }
}

function written(value: unknown, { indent, newline }: Style, depth: number): string {
  const lines = JSON.stringify(value, null, indent).split("\n");
  return lines.join(`${newline}${indent.repeat(depth)}`);
}

/** The indentation of the first indented line, two spaces if no line is indented; and the kind of line end. */
function styleOf(text: string): Style {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return { indent: indent.startsWith("\t") ? "\t" : indent, newline };
}

function membersOf(object: string): readonly Member[] {
  const members: Member[] = [];
  let at = skipSpace(object, 1);
  while (at < object.length && object[at] !== "}") {
    const name = valueAt(object, at);
    const colon = skipSpace(object, name.end);
    const { start, end } = valueAt(object, skipSpace(object, colon + 1));
    const key = String(JSON.parse(object.slice(name.start, name.end)));
    members.push({ key, from: name.start, start, end });
    at = skipSpace(object, end);
    if (object[at] === ",") at = skipSpace(object, at + 1);
  }
  return members;
}

/** The extent of the value that begins at `start`. */
function valueAt(text: string, start: number): { start: number; end: number } {
  if (text[start] === '"') return { start, end: endOfString(text, start) };
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') at = endOfString(text, at) - 1;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      if (depth === 0) return { start, end: at };
      if (--depth === 0) return { start, end: at + 1 };
    } else if (depth === 0 && /[\s,:]/.test(char)) return { start, end: at };
  }
  return { start, end: text.length };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && /[ \t\r\n]/.test(text[next] as string)) next++;
  return next;
}
