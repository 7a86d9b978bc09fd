/**
 * The user's mounts, recorded for later daemons: the newest `process.state` of pid 0 names them all. Secrets are not
 * stored: of a server with variables, headers or anything that looks like a secret only the label is stored, and the
 * user must mount it again; any other is restored, and started at its first use.
 */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig, MountView } from "../../abi/mcp.ts";
import { type KeptConfig, keptConfig } from "../../lib/redact/server-label.ts";
import { type Journal, KERNEL_UUID } from "../ports/journal.ts";

interface KeptMount extends KeptConfig<McpConfig> {
  readonly path: string;
  /** The name of the server in effects and rules. */
  readonly server: string;
}

export class KeptMounts {
  readonly #journal: Journal;
  #all: ReadonlyMap<string, KeptMount> = new Map();
  #recalling: Promise<void> | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Mounts that were not restored because they need values that are not stored. */
  get lacking(): readonly KeptMount[] {
    return [...this.#all.values()].filter(({ config }) => config === null);
  }

  /** Durable when it resolves; a config with secrets is not stored. */
  async add(path: string, server: string, config: McpConfig): Promise<void> {
    const kept = { path, server, ...keptConfig(config) };
    await this.recall();
    await this.#become(new Map([...this.#all, [path, kept]]));
  }

  /** False: not one of the user's mounts. */
  async remove(path: string): Promise<boolean> {
    await this.recall();
    if (!this.#all.has(path)) return false;
    await this.#become(new Map([...this.#all].filter(([each]) => each !== path)));
    return true;
  }

  /** The mounts of the last daemon; read once. */
  async recall(): Promise<readonly KeptMount[]> {
    this.#recalling ??= this.#read();
    await this.#recalling;
    return [...this.#all.values()];
  }

  async #read(): Promise<void> {
    const state = (await this.#journal.ofKind(KERNEL_UUID, "process.state")).at(-1);
    const { mounts = [] } = (state?.body ?? {}) as { mounts?: readonly KeptMount[] };
    this.#all = new Map(mounts.map((each) => [each.path, each]));
  }

  /** Changes memory in the same turn in which the record is appended, so that both have the same order. */
  async #become(next: ReadonlyMap<string, KeptMount>): Promise<void> {
    const before = this.#all;
    this.#all = next;
    const owner = { proc: KERNEL_UUID, pid: PID_KERNEL };
    try {
      await this.#journal.append([
        { ...owner, kind: "process.state", v: 1, body: { mounts: [...next.values()] } },
      ]);
    } catch (error) {
      if (this.#all === next) this.#all = before;
      throw error;
    }
  }
}

/** A mount that the last daemon had and this one cannot start. */
export function lackingView({ path, label, lacks }: KeptMount): MountView {
  const problem = `not there since the daemon was started again, which does not keep ${lacks}: mount it again`;
  return { path, pid: PID_KERNEL, server: label, state: "pending", tools: 0, servicePid: null, problem };
}
