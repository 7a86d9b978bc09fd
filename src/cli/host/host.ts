import type { DaemonAccess } from "../daemon/client.ts";
import type { StreamKind } from "../run/stdio.ts";
import type { Interrupts } from "../terminal/interrupts.ts";

/** What a command uses of its environment; tests provide their own. */
export interface Host {
  /** The version of the package. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdinKind: StreamKind;
  readonly stdoutKind: StreamKind;
  readonly interrupts: Interrupts;
  readonly lifecycle: Lifecycle;
  readonly daemon: DaemonAccess;
}

/** The part of a readable terminal or pipe that is used here. */
export interface Input {
  readonly isTTY?: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "error", listener: () => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "end" | "error", listener: () => void): unknown;
  resume(): unknown;
  pause(): unknown;
  setRawMode?(on: boolean): unknown;
}

export interface Output {
  readonly isTTY?: boolean;
  /** Set for a terminal. */
  readonly columns?: number;
  readonly rows?: number;
  /** `done` is called when the text was flushed; a slow reader delays it. */
  write(text: string | Uint8Array, done: () => void): boolean;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** How this process ends or stops, for what must be undone then. */
export interface Lifecycle {
  /**
   * `undo` runs synchronously however the process ends: normally, by a signal or a crash. Returns a function that
   * removes it.
   */
  onEnd(undo: () => void): () => void;
  /**
   * For a command that follows something: ends it as SIGPIPE would when stdout is no longer read, even if nothing is
   * written.
   */
  endWithReader(): Promise<Disposable>;
  /** `stop` is called at SIGTERM, which then does not end the process. Returns a function that removes it. */
  onTerminate(stop: () => void): () => void;
  /** `gone` is called when stdout is no longer read, which then does not end the process. Returns as above. */
  onReaderGone(gone: () => void): Promise<() => void>;
  /** Suspends the process like Ctrl-Z; resolves when the shell resumes it. */
  suspend(): Promise<void>;
}
