/**
 * The memory that an agent starts with: its folders and their indexes, each cut to a bound. An index that was written
 * from labelled data is left out: a process that does not carry the label is not given the text.
 */
import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { Note } from "../../abi/methods/memory.ts";
import type { OwnNotes } from "../../abi/rights.ts";
import type { Memory, MemoryIndex, NoteLine } from "../../abi/surroundings.ts";
import { isWithin } from "../../lib/path.ts";
import { agentFolder, type MemoryFolders } from "./memory-places.ts";
import { allNotesIn, lineOf, newestIn } from "./notes.ts";

const INDEX = "MEMORY.md";
const MAX_LINES = 200;
const MAX_BYTES = 25_000;
/** Of a larger one this much is read for its first lines; all of it, for its label, up to a bound. */
const HEAD_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 64 * HEAD_BYTES;

interface MemoryDeskOptions {
  /** Those of the workspace at `root`; a fault: they cannot be where the user wants them. */
  readonly folders: (root: string) => MemoryFolders | Fault;
  /** Off by the settings, for the workspace at `root`. */
  readonly isOff: (root: string) => boolean;
  /** Notes are taken of sessions by themselves, likewise. */
  readonly isTaken: (root: string) => boolean;
  /** Notes are tidied by themselves, likewise. */
  readonly isTidied: (root: string) => boolean;
  /** Whether a file with this content, at this real path, was written from labelled data. */
  readonly isLabelled: (path: string, sha256: string) => boolean;
}

export interface FoundMemory {
  readonly memory?: Memory;
  readonly notices: readonly string[];
}

export class MemoryDesk {
  readonly #options: MemoryDeskOptions;

  constructor(options: MemoryDeskOptions) {
    this.#options = options;
  }

  /** All notes, as the user sees them. INVALID: they cannot be where the user wants them. */
  async notes(root: string): Promise<{ folders: MemoryFolders; notes: Note[] }> {
    const folders = this.#options.folders(root);
    if (folders instanceof Fault) throw folders;
    const { local, user } = folders;
    return { folders, notes: [...(await allNotesIn(local, "local")), ...(await allNotesIn(user, "user"))] };
  }

  async of(
    { root, isTrusted }: { readonly root: string; readonly isTrusted: boolean },
    env: Readonly<Record<string, string>>,
    own?: OwnNotes,
  ): Promise<FoundMemory> {
    const { isOff, isTaken, isTidied } = this.#options;
    if (isOff(root) || (env.CRUX_DISABLE_AUTO_MEMORY ?? "") !== "") return { notices: [] };
    const folders = this.#options.folders(root);
    if (folders instanceof Fault) return { notices: [`memory: ${folders.message}`] };
    const { local, user } = folders;
    const indexes: MemoryIndex[] = [];
    const notices: string[] = [];
    for (const [scope, dir] of [
      ["user", user],
      ["local", local],
    ] as const) {
      const text = await this.#index(dir, notices);
      if (text !== "") indexes.push({ scope, path: join(dir, INDEX), text });
    }
    const dir = own === undefined ? "" : agentFolder({ local, user }, own);
    const kept = dir === "" ? {} : { own: { dir, index: await this.#index(dir, notices) } };
    const taken = isTrusted && isTaken(root) ? ({ isTaken: true } as const) : {};
    const tidied = isTrusted && isTidied(root) ? ({ isTidied: true } as const) : {};
    const lines = await this.#lines([local, user]);
    const notes = lines.length === 0 ? {} : { notes: lines };
    return { memory: { local, user, ...taken, ...tidied, indexes, ...kept, ...notes }, notices };
  }

  /** Cut to its bound; "": there is none, or it was left out, which a notice says then. */
  async #index(dir: string, notices: string[]): Promise<string> {
    const path = join(dir, INDEX);
    try {
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return "";
      const text = await this.#read(dir, path);
      return text.trim() === "" ? "" : bounded(text);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        notices.push(`memory: ${path} was left out: ${messageOf(error)}`);
      return "";
    }
  }

  /** What the newest notes are about; those from labelled data are left out. */
  async #lines(dirs: readonly string[]): Promise<readonly NoteLine[]> {
    const { isLabelled } = this.#options;
    const found = (await Promise.all(dirs.map(newestIn))).flat();
    found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
    const lines: NoteLine[] = [];
    for (const { path, mtimeMs } of found.slice(0, MAX_LINES)) {
      const line = await lineOf(path, mtimeMs, isLabelled);
      if (line !== undefined) lines.push(line);
    }
    return lines;
  }

  async #read(dir: string, path: string): Promise<string> {
    const real = await realpath(path);
    if (!isWithin(await realpath(dir), real)) throw new Error("it leads out of its folder");
    await using handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("not a regular file");
    if (stats.size > MAX_FILE_BYTES) throw new Error(`over ${MAX_FILE_BYTES} bytes`);
    const hash = createHash("sha256");
    const head: Buffer[] = [];
    let size = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (size < HEAD_BYTES) head.push(chunk);
      size += chunk.byteLength;
      if (size > MAX_FILE_BYTES) throw new Error(`over ${MAX_FILE_BYTES} bytes`);
    }
    if (this.#options.isLabelled(real, hash.digest("hex")))
      throw new Error("it was written from data of others; edit it yourself to take it over");
    return Buffer.concat(head).toString("utf8");
  }
}

/** Both bounds hold: at most so many lines, and so many bytes. */
function bounded(text: string): string {
  const lines = text.trimEnd().split("\n");
  const head = lines.slice(0, MAX_LINES).join("\n");
  const cut = Buffer.byteLength(head) <= MAX_BYTES ? head : inBytes(head);
  if (cut.length === text.trimEnd().length) return cut;
  return `${cut}\n(cut: an index has at most ${MAX_LINES} lines and ${MAX_BYTES} bytes; shorten it)`;
}

function inBytes(text: string): string {
  const head = Buffer.from(text)
    .subarray(0, MAX_BYTES)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
  const end = head.lastIndexOf("\n");
  return end > head.length / 2 ? head.slice(0, end) : head;
}
