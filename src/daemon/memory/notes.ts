/** The notes of a folder of memory as the user sees them: what each is about, and what keeps it from being used. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { Note } from "../../abi/methods/memory.ts";
import { parseFrontMatter } from "../../agent/definition/front-matter.ts";

const TYPES: ReadonlySet<string> = new Set(["user", "feedback", "project", "reference"]);
const INDEX = "MEMORY.md";
const MAX_NOTES = 1_000;
const MAX_BYTES = 64 * 1024;

/** Sorted by name; a folder that does not exist has none. */
export async function notesIn(dir: string, scope: Note["scope"]): Promise<readonly Note[]> {
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith(".md")).sort();
  const index = await readFile(join(dir, INDEX), "utf8").catch(() => "");
  const notes: Note[] = [];
  for (const name of names.slice(0, MAX_NOTES)) {
    const path = join(dir, name);
    const { size: bytes, isRegular } = await stat(path).then(
      (stats) => ({ size: stats.size, isRegular: stats.isFile() }),
      () => ({ size: 0, isRegular: false }),
    );
    const found =
      isRegular && bytes <= MAX_BYTES ? await readFile(path, "utf8").catch(() => undefined) : undefined;
    const told = found === undefined ? UNREAD : name === INDEX ? OF_INDEX : described(name, found, index);
    notes.push({ scope, path, bytes, ...told });
  }
  return notes;
}

type Told = Pick<Note, "type" | "description" | "problem">;
const UNREAD: Told = { type: "", description: "", problem: `not a file of at most ${MAX_BYTES / 1024} KiB` };
const OF_INDEX: Told = { type: "", description: "the index", problem: "" };

function described(name: string, text: string, index: string): Told {
  try {
    const { fields } = parseFrontMatter(name, text);
    const [type, description] = [fields.text("type"), fields.text("description")];
    return { type, description, problem: problemOf(name, { type, description }, index) };
  } catch (error) {
    return { type: "", description: "", problem: messageOf(error) };
  }
}

function problemOf(name: string, { type, description }: Omit<Told, "problem">, index: string): string {
  if (!TYPES.has(type)) return `type must be one of ${[...TYPES].join(", ")}`;
  if (description === "") return "it has no description";
  return index.includes(`(${name})`) ? "" : "the index has no line for it, so no agent looks for it";
}
