/**
 * Agent files as they were read last, for as long as nothing of them has changed: a spawn looks at a handful of times and
 * sizes instead of reading, and all processes of one agent share its texts.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { AgentFiles } from "./files.ts";

export interface StampedFiles extends AgentFiles {
  /** Changes when the file or directory behind the path does, comes or goes. Sync: it is asked a dozen times a spawn. */
  stamp(path: string): string;
}

interface Kept {
  readonly agent: AgentInfo;
  /** Each path that was looked at, there or not. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** Beyond, the one that was loaded longest ago goes. */
const MAX_KEPT = 64;

export class AgentCache {
  readonly #files: StampedFiles;
  readonly #kept = new Map<string, Kept>();

  constructor(files: StampedFiles) {
    this.#files = files;
  }

  /** `load` sees the files through what it is given, and nothing else. An agent with servers is read each time: its entries depend on the environment. */
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

  /** The stamp is taken before the look: what changes in between is seen next time. */
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
