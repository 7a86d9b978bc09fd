/** The notes of a folder of memory as the user sees them: what each is about, and what keeps it from being used. */
import { existsSync } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { Note } from "../../abi/methods/memory.ts";
import type { NoteLine } from "../../abi/surroundings.ts";
import { parseFrontMatter } from "../../agent/definition/front-matter.ts";
import { readRegular } from "../../lib/regular-file.ts";
import { digestOf } from "../trust/inventory.ts";
import { AGENTS, agentFolder } from "./memory-places.ts";

const TYPES: ReadonlySet<string> = new Set(["user", "feedback", "project", "reference"]);
const INDEX = "MEMORY.md";
const MAX_NOTES = 1_000;
const MAX_BYTES = 64 * 1024;

const MAX_AGENTS = 100;

/** Of the folder, then of the agents with notes of their own below it. */
export async function allNotesIn(dir: string, scope: Note["scope"]): Promise<readonly Note[]> {
  const agents = await readdir(join(dir, AGENTS), { withFileTypes: true }).catch(() => []);
  const names = agents.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  const notes = [...(await notesIn(dir, scope))];
  for (const name of names.slice(0, MAX_AGENTS))
    notes.push(...(await notesIn(agentFolder({ local: dir, user: dir }, { scope, folder: name }), scope)));
  return notes;
}

/** What begins with a dot is Crux's own. */
function isNote(name: string): boolean {
  return name.endsWith(".md") && !name.startsWith(".");
}

/** Sorted by name; a folder that does not exist has none. */
async function notesIn(dir: string, scope: Note["scope"]): Promise<readonly Note[]> {
  const names = (await readdir(dir).catch(() => [])).filter(isNote).sort();
  const index = (await textOf(join(dir, INDEX))) ?? "";
  const notes: Note[] = [];
  for (const name of names.slice(0, MAX_NOTES)) {
    const path = join(dir, name);
    const bytes = await stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    const found = await textOf(path);
    const told = found === undefined ? UNREAD : name === INDEX ? OF_INDEX : described(name, found, index);
    notes.push({ scope, path, bytes, ...told });
  }
  return notes;
}

/** undefined: not a file of at most so many bytes. */
function textOf(path: string): Promise<string | undefined> {
  return readRegular(path, MAX_BYTES).then(String, () => undefined);
}

/** The regular files of a folder that may be notes. Links are not followed. */
export async function newestIn(
  dir: string,
): Promise<readonly { readonly path: string; readonly mtimeMs: number }[]> {
  if (!existsSync(dir)) return [];
  const names = (await readdir(dir).catch(() => [])).filter((name) => isNote(name) && name !== INDEX);
  const found = names.slice(0, MAX_NOTES).map(async (name) => {
    const path = join(dir, name);
    const stats = await lstat(path).catch(() => undefined);
    return stats?.isFile() === true && stats.size <= MAX_BYTES ? [{ path, mtimeMs: stats.mtimeMs }] : [];
  });
  return (await Promise.all(found)).flat();
}

const LINE_CHARS = 250;

/** undefined: it cannot be read, lacks its front matter, or was written from labelled data. */
export async function lineOf(
  path: string,
  mtimeMs: number,
  isLabelled: (path: string, sha256: string) => boolean,
): Promise<NoteLine | undefined> {
  const bytes = await readRegular(path, MAX_BYTES).catch(() => undefined);
  const real = await realpath(path).catch(() => path);
  if (bytes === undefined || isLabelled(real, digestOf(bytes))) return undefined;
  const { type, description } = described(basename(path), bytes.toString("utf8"), "");
  if (!TYPES.has(type) || description === "") return undefined;
  const day = new Date(mtimeMs).toISOString().slice(0, 10);
  return {
    path,
    name: basename(path, ".md"),
    description: description.slice(0, LINE_CHARS).toWellFormed(),
    day,
  };
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
