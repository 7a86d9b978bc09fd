/** The host as the kernel sees it, and how devices start OS processes. */

import type { SandboxProfile, SandboxState } from "../../abi/sandbox.ts";

/** `path` with `..` and symlinks of its longest existing ancestor resolved; the rest appended. Sync, read-only. */
export type RealPath = (path: string) => string;

/**
 * OS children, owned: each in its own process group, marked by its environment, ended with its owner.
 * `dev/host` implements it; model drivers and devices use it through this port.
 */
export interface HostExec {
  run(spec: ExecSpec, signal: AbortSignal): ExecChild;
  /** The absolute path of the program that run() would start. NOT_FOUND: program or cwd; PERMISSION: not executable. */
  find(what: Pick<ExecSpec, "argv" | "cwd" | "env">): string;
  /** Ends every child of every owner; resolves when none is left. */
  close(): Promise<void>;
  /** Can children be confined here? Absent: not known, and so not. */
  readonly sandbox?: SandboxState;
  /** Live OS children, for tests and status. */
  readonly live: number;
  /**
   * How children are kept from outliving the daemon: `namespace` (a pid namespace each, which dies with it), `pdeathsig`
   * (their leader dies with it, the rest at the next start), `group` (at the next start). In a namespace a program sees and
   * signals no process but those it started.
   */
  readonly ownership: "namespace" | "pdeathsig" | "group";
}

export interface ExecSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default ignore. */
  readonly stdin?: "ignore" | "pipe";
  /** stderr comes as stdout, in the order in which the program writes. */
  readonly isMerged?: boolean;
  /**
   * Called with each chunk in order of arrival; never after `exited`. A promise holds that stream, and so the program, until
   * it settles.
   */
  onOutput(stream: "stdout" | "stderr", chunk: Buffer): unknown;
  /**
   * ms from TERM to KILL when `signal` fires or kill() is called; default 5000. Infinity: until `killed`, or the end of the
   * daemon.
   */
  readonly graceMs?: number;
  /** KILL at once, also during the grace. */
  readonly killed?: AbortSignal | undefined;
  /** Confines it; null or absent: as the host is. UNAVAILABLE in `exited` where that cannot be set up: it does not start. */
  readonly sandbox?: SandboxProfile | null;
  /**
   * Of which process it is, until when. Its confined programs without a network share a loopback, and where one has ended, what
   * confines the next may be made before it is asked for.
   */
  readonly process?: { readonly id: string; readonly until: AbortSignal };
  /** Owner shown in diagnosis: `pid 3 bash`. */
  readonly owner: string;
}

export interface ExecChild {
  /** The OS pid of what the daemon started: with a namespace that is the keeper of the namespace, not the program. */
  readonly osPid: number | undefined;
  /**
   * When nothing of it is left. Never rejects; `error` is set when the program did not start (NOT_FOUND, PERMISSION …).
   * Dead by a signal n that was not sent through here, it may have the code 128 + n instead of the signal's name.
   */
  readonly exited: Promise<{
    code: number | null;
    signal: string | null;
    error?: Error;
    /** What its sandbox refused or removed, in words, as far as that can be observed from outside. */
    violations?: readonly string[];
  }>;
  /** Writes to stdin; resolves when the pipe took it. */
  write(data: Uint8Array | string): Promise<void>;
  endInput(): void;
  /** Signals the program and everything it started, inside its namespace too. False: none of them is alive. */
  signal(signal: "SIGTERM" | "SIGINT" | "SIGPIPE" | "SIGSTOP" | "SIGCONT"): boolean;
  /** TERM, then KILL, to the program and all it started. Resolves when they are gone. */
  kill(): Promise<void>;
}
