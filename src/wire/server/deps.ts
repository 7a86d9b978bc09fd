/** What the server needs besides the kernel; provided by the composition root. */
import type { AgentInfo, AgentMap, AgentSeeker } from "../../abi/agent.ts";
import type { Definition } from "../../abi/methods/definition.ts";
import type { DaemonFigures, SystemMetrics } from "../../abi/methods/ipc/kernel.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import type { SandboxStatus } from "../../abi/sandbox.ts";
import type { CredentialDesk } from "../../kernel/ports/credentials.ts";
import type { EditorDesk } from "../../kernel/ports/editors.ts";
import type { JournalDesk } from "../../kernel/ports/journal-tools.ts";
import type { KernelApi } from "../../kernel/ports/kernel-api.ts";
import type { ModelDesk } from "../../kernel/ports/models.ts";
import type { SettingsDesk } from "../../kernel/ports/settings.ts";
import type { TaskDesk } from "../../kernel/ports/tasks.ts";
import type { TrustDesk } from "../../kernel/ports/trust.ts";
import type { Peer } from "./principal.ts";
import type { ProcessSockets } from "./process-sockets.ts";
import type { Tokens } from "./tokens.ts";

/** Writes one line to the daemon's log. Never throws. */
export type Log = (level: "info" | "warn" | "error", message: string) => void;

export interface ServerDeps {
  /** The version without `v`: `0.1.0`. */
  readonly version: string;
  /** Where an agent is looked up if a request names no folder. */
  readonly home: string;
  /** The environment of a process if a request gives none. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The program of a spawn. undefined: the shipped default agent; "none": null, general mode. NOT_FOUND lists the
   * available agents.
   */
  loadAgent(name: string | undefined, seeker: AgentSeeker): Promise<AgentInfo | null>;
  /** Whether a run or session that names no agent begins as a coordinator. Absent: only where its environment says so. */
  isCoordinator?(cwd: string): boolean;
  /** The processes of the previous daemons were not restored: clients are notified. */
  readonly isSafeMode?: boolean;
  /** The agents among the processes that were not restored: their number, and the first pids. Absent: not known. */
  readonly unrestored?: { readonly agents: number; readonly pids: readonly number[] };
  /** Why the journal is read-only and nothing runs; this text is sent to clients. */
  readonly readOnly?: string;
  /** The journal as a whole; absent: this daemon has none. */
  readonly desk?: JournalDesk;
  /** Agent and skill files; absent: this daemon loads none. */
  definitions?(kind: "agents" | "skills", wish: DefinitionWish): Promise<readonly Definition[]>;
  /** The notes that agents keep, for a process in `cwd`; absent: none. */
  notes?(cwd: string): Promise<Result<"memory.list">>;
  /** Task lists on disk; absent: this daemon has none. */
  readonly tasks?: TaskDesk;
  /** The user's trust in workspaces; absent: none is trusted. */
  readonly trust?: TrustDesk;
  /** Reads and changes the settings; absent: this daemon reads none. */
  readonly settings?: SettingsDesk;
  /** Stored keys of providers; absent: this daemon stores none. */
  readonly credentials?: CredentialDesk;
  /** Masks known secrets; bytes that are not text stay as they are. */
  redacted?(bytes: Uint8Array): Uint8Array;
  /** false: the host cannot identify the peer of a connection. */
  readonly arePeersRead?: boolean;
  /** Whether commands are confined. Absent: not known. The first call may wait for a probe. */
  sandbox?(): SandboxStatus;
  /** Worktrees that nothing used any more and that this daemon has removed, the last ones; absent: it removes none. */
  sweptWorktrees?(): readonly string[];
  /** Metrics, at most a second old; absent: they are not read. */
  metrics?(): SystemMetrics;
  /** Called once, before anybody is served: where the figures of this server come from. */
  figuresFrom?(figures: () => DaemonFigures): void;
  /** The available models; absent: not known. */
  readonly models?: ModelDesk;
  /** The editors that show files of sessions; absent: this daemon asks none. */
  readonly editors?: EditorDesk;
  /** Whether the settings show calls on terminals; absent: they do. */
  showsCalls?(): boolean;
  /** Begins the shutdown of the daemon and returns at once. Called after the response is written out. */
  shutdown(): void;
}

/** Without a name all definitions are wanted; `file` is checked instead of the installed ones. */
export interface DefinitionWish {
  readonly cwd: string;
  readonly name?: string | undefined;
  readonly file?: { readonly path: string; readonly text: string } | undefined;
  /** Agents of the command line. */
  readonly agents?: AgentMap | undefined;
}

export interface ServerOptions {
  readonly socketPath: string;
  readonly kernel: KernelApi;
  readonly deps: ServerDeps;
  readonly clock: Clock;
  readonly log: Log;
  /** Another path at which the socket can be found; absent: none. */
  readonly legacyPath?: string;
  /** The required owner of the socket's folder; default: the user of this OS process. */
  readonly uid?: number;
  /** Identifies the peer of each connection by its fd; absent: not known. */
  readonly peerOf?: (fd: number) => Peer;
  /** Called for each admitted connection, before it is served. */
  readonly onConnect?: () => void;
  /** The cookie that proves a user; absent: a user needs no proof. */
  readonly cookie?: string;
  /** The tokens of processes; absent: they have none. */
  readonly tokens?: Tokens;
  /** The sockets of processes; absent: they have none. */
  readonly processSockets?: ProcessSockets;
}
