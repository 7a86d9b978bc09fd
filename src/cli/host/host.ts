import type { DaemonAccess } from "../daemon/client.ts";
import type { StreamKind } from "../run/stdio.ts";
import type { Interrupts } from "../terminal/interrupts.ts";

/** What a command sees of its surroundings; tests bring their own. */
export interface Host {
  /** The package's. */
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
  /** Of a terminal. */
  readonly columns?: number;
  readonly rows?: number;
  /** The callback says that the text has left; a slow reader holds it back. */
  write(text: string | Uint8Array, done: () => void): boolean;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** How this process ends or stops, for what must be undone then. */
export interface Lifecycle {
  /** `undo` is called at once, however the process ends: by itself, a signal, a crash. Returns the way to take it back. */
  onEnd(undo: () => void): () => void;
  /** While something is followed: ends the command as SIGPIPE would once nobody reads stdout, though nothing is written. */
  endWithReader(): Promise<Disposable>;
  /** Stops as Ctrl-Z does; resolves when the shell resumes it. */
  suspend(): Promise<void>;
}
