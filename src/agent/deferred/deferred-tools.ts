/**
 * The tools that a process can search for but that are not sent with its requests: programs, read on the first search,
 * and the tools of MCP servers. One instance per process; its size is bounded by what is mounted.
 */
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { LateMap, LateSet } from "../../lib/maps/late.ts";
import { findProgram } from "../program/programs.ts";
import type { Entry } from "./entry.ts";
import type { Stock } from "./query.ts";
import { RankIndex } from "./rank.ts";
import { type SeenServer, seenServers, toolsOf } from "./server-list.ts";
import type { DeferredSetting } from "./setting.ts";

interface DeferredStart {
  /** Names under /bin. */
  readonly programs: readonly string[];
  /** The servers named in the agent file of the process. */
  readonly mounts: ProgramStart["mounts"];
  readonly servers: readonly SeenServer[];
  /** The tools of the connected servers, already listed. */
  readonly entries: readonly Entry[];
  /** The names of the tools sent with every request. */
  readonly loaded: ReadonlySet<string>;
  readonly setting: DeferredSetting;
  /** Whether the agent file allows a tool, and it is not sent anyway. */
  isOffered(name: string): boolean;
  /** Whether the agent file allows a server. */
  isSeen(server: SeenServer): boolean;
}

/** Programs that are listed only once another one was called, which names them. */
const LATER: ReadonlySet<string> = new Set(["team_delete"]);

/** Names added or removed since the last announcement to the model. */
export interface Delta {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export class DeferredTools {
  readonly #start: DeferredStart;
  readonly #entries = new LateMap<string, Entry>();
  /** The names of programs whose files were read. */
  readonly #seen = new LateSet<string>();
  #servers: readonly SeenServer[];
  /** The paths of servers whose tools were listed. */
  readonly #asked: Set<string>;
  /** The search index, with the names of the entries it was built from. */
  #index: { readonly names: string; readonly index: RankIndex } | null = null;
  #told: readonly string[];

  constructor(start: DeferredStart) {
    this.#start = start;
    this.#servers = start.servers;
    this.#asked = new Set(start.servers.filter(({ isConnected }) => isConnected).map(({ path }) => path));
    for (const entry of start.entries) this.#entries.set(entry.name, entry);
    this.#told = this.names();
  }

  get setting(): DeferredSetting {
    return this.#start.setting;
  }

  /** All deferred names, sorted; a server whose tools were not listed yet appears as its own name: `mcp__github`. */
  names(): readonly string[] {
    const silent = this.#servers
      .filter(({ path }) => !this.#asked.has(path))
      .map(({ name }) => `mcp__${name}`);
    return [...new Set([...this.#unseen(), ...this.#entries.keys(), ...silent])].sort();
  }

  /** The entries known so far, and their index; reads nothing. */
  known(): Pick<Stock, "entries" | "index"> {
    const entries = [...this.#entries.values()];
    const names = [...this.#entries.keys()].sort().join("\n");
    if (this.#index?.names !== names) this.#index = { names, index: new RankIndex(entries) };
    return { entries, index: this.#index.index };
  }

  /** All deferred tools: reads the remaining programs and lists the tools of the remaining servers. */
  async stock(sys: Sys): Promise<Stock> {
    for (const name of this.#unseen().sort()) await this.#look(sys, name);
    for (const server of this.#servers) await this.#ask(sys, server);
    const servers = this.#servers.map(({ name }) => name);
    return { ...this.known(), loaded: this.#start.loaded, servers };
  }

  /** The server announced under this name, `mcp__<server>`, in place of its tools. */
  serverNamed(name: string): SeenServer | undefined {
    return this.#servers.find((server) => `mcp__${server.name}` === name);
  }

  /** Whether calls of the tool may overlap with others; false while the tool is not known. Reads nothing. */
  isParallel(name: string): boolean {
    return (this.#entries.get(name) ?? this.#byPath(name))?.parallel === true;
  }

  /** Finds a tool by name, alias or path; undefined: no such tool. */
  async find(sys: Sys, written: string): Promise<Entry | undefined> {
    const name = canonicalToolName(written.replace(/^\/bin\//, ""));
    if (this.#unseen().includes(name) || (LATER.has(name) && !this.#entries.has(name)))
      await this.#look(sys, name);
    const known = this.#entries.get(name) ?? this.#byPath(name);
    if (known !== undefined) return known;
    const server = this.#servers.find((each) => isOf(each, name));
    if (server === undefined || this.#asked.has(server.path)) return undefined;
    await this.#ask(sys, server);
    return this.#entries.get(name) ?? this.#byPath(name);
  }

  /** Lists the servers again; returns what changed since the last announcement. */
  async refresh(sys: Sys): Promise<Delta> {
    const servers = (await seenServers(sys, this.#start.mounts)).filter((server) =>
      this.#start.isSeen(server),
    );
    const gone = this.#servers.filter(({ path }) => !servers.some((each) => each.path === path));
    for (const { name, path } of gone) this.#forget(name, path);
    this.#servers = servers;
    for (const server of servers) if (server.isConnected) await this.#ask(sys, server);
    const now = this.names();
    const added = now.filter((name) => !this.#told.includes(name));
    const removed = this.#told.filter((name) => !now.includes(name));
    this.#told = now;
    return { added, removed };
  }

  #unseen(): string[] {
    return this.#start.programs.filter((name) => !this.#seen.has(name));
  }

  async #look(sys: Sys, name: string): Promise<void> {
    const program = await findProgram(sys, name);
    this.#seen.add(name);
    if (program === undefined) return;
    const { spec, parallel, hint } = program;
    this.#entries.set(name, { ...spec, parallel, hint, path: `/bin/${name}`, server: "" });
  }

  async #ask(sys: Sys, server: SeenServer): Promise<void> {
    if (this.#asked.has(server.path)) return;
    this.#asked.add(server.path);
    for (const entry of await toolsOf(sys, server))
      if (this.#start.isOffered(entry.name)) this.#entries.set(entry.name, entry);
  }

  #byPath(path: string): Entry | undefined {
    return path.startsWith("/") ? this.#entries.values().find((entry) => entry.path === path) : undefined;
  }

  #forget(server: string, path: string): void {
    this.#asked.delete(path);
    for (const [name, entry] of this.#entries) if (entry.server === server) this.#entries.delete(name);
  }
}

function isOf({ name, path }: SeenServer, tool: string): boolean {
  return tool.startsWith(`mcp__${name}__`.slice(0, 55)) || tool.startsWith(`${path}/tools/`);
}
