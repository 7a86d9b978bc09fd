/** What a model says of the notes that it was to tidy, and whether that may be done. Pure. */
import { Fault, messageOf } from "../../abi/errors.ts";
import { parseFrontMatter } from "../definition/front-matter.ts";

export const INDEX = "MEMORY.md";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.md$/;
const TYPES: ReadonlySet<string> = new Set(["user", "feedback", "project", "reference"]);
const MAX_BYTES = 64 * 1024;

export interface TidyAnswer {
  /** The new content of notes, by name: those that change, and new ones. */
  readonly notes: ReadonlyMap<string, string>;
  readonly gone: readonly string[];
}

const NOTE = /^<note file="([^"\n]+)">\n([\s\S]*?)\n?^<\/note>$/gm;
const GONE = /^<gone file="([^"\n]+)"\s*\/>$/gm;

/** `old`: the notes that it was shown. INVALID: something in it would lose a note or hide it, so nothing is done. */
export function tidyAnswer(text: string, old: ReadonlyMap<string, string>): TidyAnswer {
  const notes = new Map<string, string>();
  for (const [, name = "", body = ""] of text.matchAll(NOTE))
    if (old.get(name)?.trimEnd() !== body.trimEnd()) notes.set(name, `${body.trimEnd()}\n`);
  const gone = [...new Set([...text.replaceAll(NOTE, "").matchAll(GONE)].map(([, name = ""]) => name))];
  const answer = { notes: withIndex(notes, gone, old), gone };
  const wrong = wrongWith(answer, old);
  if (wrong !== undefined) throw new Fault({ code: "INVALID", message: wrong });
  return answer;
}

/** No line of the index leads to a note that goes. */
function withIndex(
  notes: ReadonlyMap<string, string>,
  gone: readonly string[],
  old: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const index = notes.get(INDEX) ?? old.get(INDEX) ?? "";
  const left = index.split("\n").filter((line) => !gone.some((name) => line.includes(`(${name})`)));
  return left.join("\n") === index ? notes : new Map([...notes, [INDEX, left.join("\n")]]);
}

function wrongWith({ notes, gone }: TidyAnswer, old: ReadonlyMap<string, string>): string | undefined {
  const lost = gone.find((name) => name === INDEX || !old.has(name) || notes.has(name));
  if (lost !== undefined) return `${lost} cannot be removed`;
  for (const [name, body] of notes) {
    const wrong = name === INDEX ? undefined : wrongNote(name, body);
    if (wrong !== undefined) return wrong;
  }
  const index = notes.get(INDEX) ?? old.get(INDEX) ?? "";
  const missing = [...linkedIn(old.get(INDEX) ?? ""), ...notes.keys()].find(
    (name) => name !== INDEX && !gone.includes(name) && !index.includes(`(${name})`),
  );
  return missing === undefined ? undefined : `the index has no line for ${missing}`;
}

function wrongNote(name: string, body: string): string | undefined {
  if (!NAME.test(name)) return `not a name of a note: ${name}`;
  if (Buffer.byteLength(body) > MAX_BYTES) return `${name} has more than ${MAX_BYTES / 1024} KiB`;
  try {
    const { fields } = parseFrontMatter(name, body);
    if (!TYPES.has(fields.text("type"))) return `${name}: type must be one of ${[...TYPES].join(", ")}`;
    return fields.text("description") === "" ? `${name} has no description` : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function linkedIn(index: string): readonly string[] {
  return [...index.matchAll(/\]\(([^)\n]+\.md)\)/g)].map(([, name = ""]) => name);
}
