/** What a daemon gives to its boot, and what it gets from it. */
import type { Clock } from "../abi/program.ts";
import type { Settings } from "../abi/settings/settings.ts";
import type { CredentialDesk } from "../kernel/ports/credentials.ts";
import type { Journal } from "../kernel/ports/journal.ts";
import type { KernelApi } from "../kernel/ports/kernel-api.ts";
import type { SettingsDesk } from "../kernel/ports/settings.ts";
import type { TimeGaps } from "../kernel/ports/time-gaps.ts";
import { codeCacheDir } from "../lib/paths.ts";
import type { Redactor } from "../lib/redact/redact.ts";
import type { Log, ServerDeps } from "../wire/server/deps.ts";
import type { Peer } from "../wire/server/principal.ts";
import type { ProcessSockets } from "../wire/server/process-sockets.ts";
import type { Tokens } from "../wire/server/tokens.ts";

/** The daemon's lock; the OS frees it when the process ends, however it ends. */
export interface DaemonLease {
  release(): void;
}

interface DaemonPaths {
  readonly socketPath: string;
  /** The directory of the socket, used by this daemon alone. */
  readonly runtimeDir: string;
  /** The usual runtime directory: the same, or its parent, where another daemon has its socket. */
  readonly sharedDir: string;
  readonly stateDir: string;
  readonly configDir: string;
}

/** Directories of Crux itself, which nothing that an agent does may reach. */
export function ownDirs({ paths, env, home }: Pick<BootContext<DaemonLease>, "paths" | "env" | "home">) {
  return [paths.stateDir, paths.sharedDir, codeCacheDir(env, home)];
}

export interface BootContext<L extends DaemonLease> {
  readonly lease: L;
  readonly paths: DaemonPaths;
  /** The user's settings without invalid values. */
  readonly settings: Settings;
  /** Problems in the settings, one line each, to be reported outside the log too. */
  readonly settingsProblems: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly uid: number;
  readonly version: string;
  readonly clock: Clock;
  readonly gaps?: TimeGaps;
  /** The last daemons died young, one after the other: nothing that they left is restored or started. */
  readonly isSafeMode: boolean;
  readonly log: Log;
  /** Removes secrets from everything that is stored or shown. Absent: nothing is a secret. */
  readonly redactor?: Redactor;
  /** Stored keys of providers; absent: none are stored. */
  readonly credentials?: CredentialDesk;
}

/** The dependencies of the server that the daemon itself provides. */
export type OwnDeps = Pick<
  ServerDeps,
  | "version"
  | "home"
  | "env"
  | "shutdown"
  | "isSafeMode"
  | "readOnly"
  | "settings"
  | "redacted"
  | "arePeersRead"
  | "credentials"
>;

export interface Booted {
  readonly kernel: KernelApi;
  /** When the journal is lost, the daemon ends. */
  readonly journal?: Pick<Journal, "state" | "onState">;
  /** Passed to the server unchanged. `unrestored`: set in safe mode. */
  readonly serves: Omit<ServerDeps, keyof OwnDeps>;
  /** `reload`: reads the user's settings again. */
  readonly settings?: (reload: () => void) => SettingsDesk;
  /**
   * Present if the journal is read-only: nothing runs, and the daemon ends when `over` settles. `words`: the message
   * for every client.
   */
  readonly readOnly?: { readonly words: string; readonly over: Promise<void> };
  /** Identifies the peer of a connection by its fd. Absent: not supported here. */
  readonly peers?: { readonly areRead: boolean; of(fd: number): Peer };
  readonly processSockets?: ProcessSockets;
  readonly tokens?: Tokens;
  /** Called with the settings read again and their problems: an invalid value may have been a deny rule. */
  reload?(settings: Settings, problems: readonly string[]): void;
  /**
   * Called after all processes have ended: unmounts, ends OS children, syncs and closes the journal. The lease is kept.
   */
  close(): Promise<void>;
}

/** Called once, after the lease is taken. Imports of heavy modules belong inside it. */
export type Boot<L extends DaemonLease> = (context: BootContext<L>) => Promise<Booted>;
