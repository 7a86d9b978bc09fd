/**
 * The inventory of what a workspace brings that would have an effect: single files, all files of some folders, and each
 * server of `.mcp.json` by itself. Nothing is run, and no link is followed out of the workspace. Bounded; what is
 * beyond a bound is reported and cannot be trusted.
 */
import { createHash } from "node:crypto";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import {
  BROUGHT_FILES,
  BROUGHT_FOLDERS,
  type BroughtKind,
  INSTRUCTION_NAMES,
  MCP_FILE,
} from "../../abi/trust.ts";
import { foldersBetween, importedPath, MAX_IMPORT_DEPTH } from "../../agent/instructions/collect.ts";
import { importsOf } from "../../agent/instructions/imports.ts";
import { RecentMap } from "../../lib/maps/recent-map.ts";
import { isWithin } from "../../lib/path.ts";
import { readRegular } from "../../lib/regular-file.ts";
import { onlyNarrows } from "../settings/folder-keys.ts";
import { parseSettings } from "../settings/settings.ts";
import { fileStamp } from "../settings/sources.ts";
import { actsOf } from "./acts.ts";

const MAX_FILES = 2000;
const MAX_DEPTH = 12;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_ALL_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 64;
/** The most recently inspected files that are remembered, so that only changed ones are read again. */
const MAX_KNOWN = 4000;

export interface Brought {
  readonly path: string;
  readonly kind: BroughtKind;
  readonly digest: string;
  readonly acts: readonly string[];
  /** Settings that can only forbid. */
  readonly narrows: boolean;
  /** The text that is shown to the user. */
  readonly text: () => Promise<string>;
}

interface Inventory {
  readonly items: readonly Brought[];
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

interface Wanted {
  readonly isHome: boolean;
  readonly dir?: string;
  readonly compose?: string | undefined;
}

interface Known extends Pick<Brought, "digest" | "acts" | "narrows"> {
  readonly stamp: string;
}

export class Inventories {
  readonly #known = new RecentMap<string, Known>(MAX_KNOWN);

  /**
   * `root`: a real path. `isHome`: the settings of other programs in a home directory are the user's own, not brought.
   * `dir`, in it: the folder that the user works in, whose own instruction files are found however deep it is.
   * `compose`: the path of a compose file that is to be used.
   */
  async of(root: string, { isHome, dir = root, compose }: Wanted): Promise<Inventory> {
    const look = new Look(root, this.#known);
    const isBrought = ([path]: readonly [string, BroughtKind]) =>
      !(isHome && /^\.(?:claude|agents)\//.test(path));
    for (const [path, kind] of BROUGHT_FILES.filter(isBrought)) await look.file(path, kind);
    for (const [path, kind] of BROUGHT_FOLDERS.filter(isBrought)) await look.folder(path, kind, 0);
    if (compose !== undefined) await look.file(relative(root, compose), "compose");
    await look.servers();
    const nested = isHome ? [] : await foldersBelow(root);
    for (const folder of new Set([...foldersBetween(root, dir), ...nested])) {
      const at = relative(root, folder);
      for (const name of INSTRUCTION_NAMES) await look.instructions(join(at, name));
      for (const [path, kind] of at === "" ? [] : NESTED_FOLDERS) await look.folder(join(at, path), kind, 0);
    }
    return { items: [...look.items.values()], refused: look.refused };
  }
}

/** Takes the inventory of one workspace, once. */
class Look {
  readonly items = new Map<string, Brought>();
  readonly refused: { path: string; why: string }[] = [];
  readonly #root: string;
  readonly #known: RecentMap<string, Known>;
  readonly #folders = new Set<string>();
  /** Instruction files whose imports were looked at. */
  readonly #followed = new Set<string>();
  #bytes = 0;

  constructor(root: string, known: RecentMap<string, Known>) {
    this.#root = root;
    this.#known = known;
  }

  /** Adds a file by the path under which it is read; it may be a link to elsewhere in the workspace. */
  async file(path: string, kind: BroughtKind): Promise<void> {
    const real = await this.#inside(path);
    if (real !== undefined) await this.#add(real, path, kind);
  }

  /** Adds the files of a folder by their real paths, under which agents and skills are read. */
  async folder(path: string, kind: BroughtKind, depth: number): Promise<void> {
    const real = await this.#inside(path);
    if (real === undefined || this.#folders.has(real)) return;
    this.#folders.add(real);
    const stats = await stat(real).catch(() => undefined);
    if (stats?.isFile() === true) return this.#add(real, this.#below(real), kind);
    if (stats?.isDirectory() !== true) return;
    if (depth > MAX_DEPTH) return this.#refuse(path, `more than ${MAX_DEPTH} folders deep`);
    const names = (await readdir(real).catch(() => [])).sort();
    for (const name of names) {
      if (this.items.size >= MAX_FILES) return this.#refuse(path, `more than ${MAX_FILES} files in all`);
      await this.folder(join(path, name), kind, depth + 1);
    }
  }

  /** Adds an instruction file, and the files of the workspace that it imports. */
  async instructions(path: string, depth = 0): Promise<void> {
    const [home, real] = ["/", await this.#inside(path, depth > 0)];
    if (real === undefined) return;
    if (depth === 0) await this.#add(real, path, "instructions");
    else await this.#add(real, this.#below(real), "instructions");
    if (depth >= MAX_IMPORT_DEPTH || this.#followed.has(real)) return;
    this.#followed.add(real);
    const text = await readBrought(real).catch(() => "");
    for (const mark of importsOf(text.toString("utf8"))) {
      if (this.items.size >= MAX_FILES) return this.#refuse(path, `more than ${MAX_FILES} files in all`);
      await this.instructions(relative(this.#root, importedPath(real, mark, home)), depth + 1);
    }
  }

  async servers(): Promise<void> {
    const real = await this.#inside(MCP_FILE);
    if (real === undefined) return;
    try {
      for (const [name, text] of serverEntries((await readBrought(real)).toString("utf8"))) {
        const item = { path: `${MCP_FILE}#${name}`, kind: "server", digest: digestOf(text) } as const;
        const acts = await actsOf("server", text);
        this.items.set(item.path, { ...item, acts, narrows: false, text: async () => text });
      }
    } catch (error) {
      this.#refuse(MCP_FILE, messageOf(error));
    }
  }

  async #add(real: string, path: string, kind: BroughtKind): Promise<void> {
    if (this.items.has(path)) return;
    try {
      const { size } = await stat(real);
      if (this.#bytes + size > MAX_ALL_BYTES) throw new Error(`more than ${MAX_ALL_BYTES} bytes in all`);
      this.#bytes += size;
      const { digest, acts, narrows } = await this.#read(real, kind);
      const text = async () => (await readBrought(real)).toString("utf8");
      this.items.set(path, { path, kind, digest, acts, narrows, text });
    } catch (error) {
      this.#refuse(path, messageOf(error));
    }
  }

  async #read(real: string, kind: BroughtKind): Promise<Known> {
    const key = `${kind} ${real}`;
    const stamp = fileStamp(real);
    const known = this.#known.use(key);
    if (known?.stamp === stamp) return known;
    const bytes = await readBrought(real);
    const text = bytes.toString("utf8");
    const narrows = kind === "settings" && narrowsAlone(text);
    const found = { stamp, digest: digestOf(bytes), acts: await actsOf(kind, text), narrows };
    this.#known.set(key, found);
    return found;
  }

  /** The real path; undefined: no such path, or it leads out of the workspace, which is reported unless `isQuiet`. */
  async #inside(path: string, isQuiet = false): Promise<string | undefined> {
    let real: string;
    try {
      real = await realpath(join(this.#root, path));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#refuse(path, `it cannot be looked at (${code})`);
      return undefined;
    }
    if (isWithin(this.#root, real)) return real;
    if (!isQuiet) this.#refuse(path, "a link that leads out of the workspace");
    return undefined;
  }

  #below(real: string): string {
    return relative(this.#root, real);
  }

  #refuse(path: string, why: string): void {
    if (this.refused.some((each) => each.path === path)) return;
    if (this.refused.length < MAX_ENTRIES) this.refused.push({ path, why });
  }
}

/** What every folder of a workspace may bring, not only its root. */
const NESTED_FOLDERS = BROUGHT_FOLDERS.filter(([, kind]) => kind !== "hook");

/** Folders below the root that are searched for instruction files, agents and skills, the nearest first; beyond these none is looked at. */
const MAX_SEARCHED = 400;

const BRINGING = [...new Set([...INSTRUCTION_NAMES, ".agents"].map((name) => name.split("/")[0] ?? name))];

/**
 * The folders below `root` that hold something like an instruction file, an agent or a skill. Hidden folders, dependencies and other
 * repositories are left out.
 */
async function foldersBelow(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const queue = [root];
  for (let at = 0; at < queue.length && at < MAX_SEARCHED; at++) {
    const dir = queue[at] ?? root;
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    const names = new Set(entries.map(({ name }) => name));
    if (dir !== root && names.has(".git")) continue;
    if (BRINGING.some((name) => names.has(name))) found.push(dir);
    const below = entries.filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name));
    queue.push(...below.map(({ name }) => join(dir, name)).sort());
  }
  return found;
}

export function digestOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function narrowsAlone(text: string): boolean {
  try {
    return onlyNarrows(parseSettings(JSON.parse(text), ""));
  } catch {
    return false;
  }
}

/**
 * The server entries by name, each with sorted keys, so that only a change of content makes it another. Throws if the
 * text is not such a file.
 */
export function serverEntries(text: string): ReadonlyMap<string, string> {
  const file: unknown = JSON.parse(text);
  const servers = isRecord(file) ? file.mcpServers : undefined;
  if (!isRecord(servers)) throw new Error("it names no mcpServers");
  const entries = Object.entries(servers);
  if (entries.length > MAX_ENTRIES) throw new Error(`more than ${MAX_ENTRIES} servers`);
  return new Map(entries.map(([name, entry]) => [name, JSON.stringify(sorted(entry), null, 2)]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readBrought(path: string): Promise<Buffer> {
  return readRegular(path, MAX_FILE_BYTES);
}
