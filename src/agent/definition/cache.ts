/**
 * Caches loaded agent files until one of them changes: a spawn compares a few modification times and sizes instead of
 * reading the files, and all processes of an agent share its texts.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { AgentFiles } from "./files.ts";

export interface StampedFiles extends AgentFiles {
  /**
   * A value that changes when the file or directory is changed, created or removed. Sync: a spawn calls it a dozen
   * times.
   */
  stamp(path: string): string;
}

interface Kept {
  readonly agent: AgentInfo;
  /** The stamp of each path that was accessed, whether it exists or not. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** Beyond this, the agent loaded longest ago is dropped. */
const MAX_KEPT = 64;

export class AgentCache {
  readonly #files: StampedFiles;
  readonly #kept = new Map<string, Kept>();

  constructor(files: StampedFiles) {
    this.#files = files;
  }

  /**
   * `load` must access files only through its argument. An agent with MCP servers is not cached: its entries depend on
   * the environment.
   */
  async load(key: string, load: (files: AgentFiles) => Promise<AgentInfo>): Promise<AgentInfo> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#isFresh(kept)) return kept.agent;
    this.#kept.delete(key);
    const stamps = new Map<string, string>();
    const agent = await load(this.#recording(stamps));
    if (agent.manifest.mcp.length > 0) return agent;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, { agent, stamps });
    return agent;
  }

  #isFresh({ stamps }: Kept): boolean {
    for (const [path, stamp] of stamps) if (this.#files.stamp(path) !== stamp) return false;
    return true;
  }

  /** The stamp is taken before the access, so that a change in between is noticed at the next load. */
  #recording(stamps: Map<string, string>): AgentFiles {
    const files = this.#files;
    const seen = (path: string): string => {
      if (!stamps.has(path)) stamps.set(path, files.stamp(path));
      return path;
    };
    return {
      readText: (path) => files.readText(seen(path)),
      list: (dir) => files.list(seen(dir)),
      realPath: (path) => files.realPath(seen(path)),
    };
  }
}
