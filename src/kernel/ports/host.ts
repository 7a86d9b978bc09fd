/** The host as the kernel sees it, and how devices start OS processes. */

import type { WindowSize } from "../../abi/native.ts";
import type { SandboxProfile, SandboxState } from "../../abi/sandbox.ts";

/** `path` with `..` and symlinks of its longest existing ancestor resolved; the rest appended. Sync, read-only. */
export interface RealPath {
  (path: string): string;
  /** The same for the paths of one decision: it sees the file system as it is at that moment, and is dropped then. */
  atOnce?(): RealPath;
}

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
  /** Can children be sandboxed here? Absent: unknown, treated as no. */
  readonly sandbox?: SandboxState;
  /** Live OS children, for tests and status. */
  readonly live: number;
  /**
   * How children are kept from outliving the daemon: `namespace` (each has a pid namespace, which dies with the
   * daemon), `pdeathsig` (their leader dies with it, the rest at the next start), `group` (at the next start). In a
   * namespace a program sees and signals only processes that it started.
   */
  readonly ownership: "namespace" | "pdeathsig" | "group";
}

export interface ExecSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default: ignore. */
  readonly stdin?: "ignore" | "pipe";
  /** Its streams are one terminal of this size. Input that has ended is `^D`. UNAVAILABLE in `exited`: not here. */
  readonly pty?: WindowSize | undefined;
  /** stderr is merged into stdout, in the order in which the program writes. */
  readonly isMerged?: boolean;
  /** A chunk of output may be overwritten once `onOutput` has returned: each is read into the same buffer. */
  readonly isBorrowed?: boolean;
  /**
   * Called with each chunk in order of arrival; never after `exited`. A promise holds that stream, and so the program,
   * until it settles. The chunk stays as it is, unless `isBorrowed`.
   */
  onOutput(stream: "stdout" | "stderr", chunk: Buffer): unknown;
  /**
   * ms from TERM to KILL when `signal` fires or kill() is called; default 5000. Infinity: until `killed`, or the end of
   * the daemon.
   */
  readonly graceMs?: number;
  /** KILL at once, also during the grace. */
  readonly killed?: AbortSignal | undefined;
  /** The sandbox; null or absent: none. UNAVAILABLE in `exited` if it cannot be set up: the program does not start. */
  readonly sandbox?: SandboxProfile | null;
  /**
   * The process it belongs to, and when that ends. Its sandboxed programs without network share a loopback, and after
   * one has ended the sandbox of the next may be prepared in advance.
   */
  readonly process?: { readonly id: string; readonly until: AbortSignal };
  /** The owner shown in diagnostics: `pid 3 bash`. */
  readonly owner: string;
}

export interface NativeUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** OS processes below it. */
  readonly children: number;
}

export interface ExecChild {
  /** The OS pid of the daemon's child: with a namespace that is the keeper of the namespace, not the program. */
  readonly osPid: number | undefined;
  /**
   * Resolves when all its OS processes are gone. Never rejects; `error` is set if the program did not start (NOT_FOUND,
   * PERMISSION …). After death by a signal n that was not sent through here, `code` may be 128 + n and `signal` null.
   */
  readonly exited: Promise<{
    code: number | null;
    signal: string | null;
    error?: Error;
    /** What its sandbox refused or removed, in words, as far as that can be observed from outside. */
    violations?: readonly string[];
  }>;
  /** Writes to stdin; resolves when the pipe has accepted it. */
  write(data: Uint8Array | string): Promise<void>;
  endInput(): void;
  /** Sets the size of its terminal; without one, nothing happens. */
  resize?(size: WindowSize): void;
  /** What it and all that it started use now; undefined: not known, or over. */
  usage?(): NativeUsage | undefined;
  /** Signals the program and everything it started, inside its namespace too. False: none of them is alive. */
  signal(signal: "SIGTERM" | "SIGINT" | "SIGPIPE" | "SIGSTOP" | "SIGCONT"): boolean;
  /** TERM, then KILL, to the program and all it started. Resolves when they are gone. */
  kill(): Promise<void>;
}
