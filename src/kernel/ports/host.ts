/** What the kernel needs of the host, and how devices start OS processes. */

/** `path` with `..` and symlinks of its longest existing ancestor resolved; the rest appended. Sync, read-only. */
export type RealPath = (path: string) => string;

/**
 * OS children, owned: each in its own process group, marked by its environment, ended with its owner.
 * `dev/host` implements it; model drivers and devices use it through this port.
 */
export interface HostExec {
  run(spec: ExecSpec, signal: AbortSignal): ExecChild;
  /** Ends every child of every owner; resolves when none is left. */
  close(): Promise<void>;
  /** Live OS children, for tests and status. */
  readonly live: number;
}

export interface ExecSpec {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default ignore. */
  readonly stdin?: "ignore" | "pipe";
  /** Called with each chunk in order of arrival; never after `exited`. */
  onOutput(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** ms from TERM to KILL when `signal` fires or kill() is called; default 5000. */
  readonly graceMs?: number;
  /** KILL at once, also during the grace. */
  readonly killed?: AbortSignal | undefined;
  /** Owner shown in diagnosis: `pid 3 bash`. */
  readonly owner: string;
}

export interface ExecChild {
  readonly osPid: number | undefined;
  /** Never rejects; `error` is set when the program did not start (NOT_FOUND, PERMISSION …). */
  readonly exited: Promise<{ code: number | null; signal: string | null; error?: Error }>;
  /** Writes to stdin; resolves when the pipe took it. */
  write(data: Uint8Array | string): Promise<void>;
  endInput(): void;
  /** TERM to the group, then KILL, then descendants that left the group. Resolves when they are gone. */
  kill(): Promise<void>;
}
