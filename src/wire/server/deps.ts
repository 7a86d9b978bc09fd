/** What the server needs besides the kernel; the composition root provides it. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Definition } from "../../abi/methods/definition.ts";
import type { Clock } from "../../abi/program.ts";
import type { SandboxStatus } from "../../abi/sandbox.ts";
import type { JournalDesk } from "../../kernel/ports/journal-tools.ts";
import type { KernelApi } from "../../kernel/ports/kernel-api.ts";
import type { ModelDesk } from "../../kernel/ports/models.ts";
import type { SettingsDesk } from "../../kernel/ports/settings.ts";
import type { TaskDesk } from "../../kernel/ports/tasks.ts";
import type { TrustDesk } from "../../kernel/ports/trust.ts";
import type { Peer } from "./principal.ts";
import type { ProcessSockets } from "./process-sockets.ts";

/** One line in the daemon's log. Never throws. */
export type Log = (level: "info" | "warn" | "error", message: string) => void;

export interface ServerDeps {
  /** Without `v`: `0.1.0`. */
  readonly version: string;
  /** Where an agent is looked up when a request names no folder. */
  readonly home: string;
  /** The environment of a process when a request gives none. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The program of a spawn. undefined: the shipped default agent; "none": null, general mode. NOT_FOUND names the
   * agents there are.
   */
  loadAgent(
    name: string | undefined,
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<AgentInfo | null>;
  /** Nothing of what the last daemons left is there: clients are told. */
  readonly isSafeMode?: boolean;
  /** Of them, agents: how many, and the first pids. Absent: none is known. */
  readonly unrestored?: { readonly agents: number; readonly pids: readonly number[] };
  /** The journal can only be read, and nothing runs: clients are told with these words. */
  readonly readOnly?: string;
  /** The journal as a whole; absent: this daemon keeps none. */
  readonly desk?: JournalDesk;
  /** Agent and skill files; absent: this daemon loads none. */
  definitions?(kind: "agents" | "skills", wish: DefinitionWish): Promise<readonly Definition[]>;
  /** Task lists on disk; absent: this daemon keeps none. */
  readonly tasks?: TaskDesk;
  /** What the user says of workspaces; absent: none is trusted. */
  readonly trust?: TrustDesk;
  /** What the settings say, and changing them; absent: this daemon reads none. */
  readonly settings?: SettingsDesk;
  /** Marks secrets that are known; bytes that are no text stay as they are. */
  redacted?(bytes: Uint8Array): Uint8Array;
  /** false: the host does not tell who connects. */
  readonly arePeersRead?: boolean;
  /** Are commands confined? Absent: not known here. The first to ask may wait for a probe. */
  sandbox?(): SandboxStatus;
  /** Which models there are; absent: not known here. */
  readonly models?: ModelDesk;
  /** The settings want calls shown on terminals; absent: they do. */
  showsCalls?(): boolean;
  /** Begins the shutdown of the daemon and returns at once. Called after the response is written out. */
  shutdown(): void;
}

/** All where no name is given; `file` instead of those there are. */
export interface DefinitionWish {
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly file?: { readonly path: string; readonly text: string } | undefined;
}

export interface ServerOptions {
  readonly socketPath: string;
  readonly kernel: KernelApi;
  readonly deps: ServerDeps;
  readonly clock: Clock;
  readonly log: Log;
  /** Who must own the socket's folder; default the user of this OS process. */
  readonly uid?: number;
  /** Asked for each connection by its fd; absent: not known here. */
  readonly peerOf?: (fd: number) => Peer;
  /** What proves a user; absent: a user needs no proof. */
  readonly cookie?: string;
  /** Of processes; absent: they have none. */
  readonly processSockets?: ProcessSockets;
}
