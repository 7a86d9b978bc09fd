/** The streams of this process, and its end, as far as they are used here; tests provide their own. */

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
  /** Takes back what arrived with the end of a question, and was not for it. Absent: it is lost. */
  unread?(texts: readonly string[]): void;
  /** How long the keys of a question that has just appeared are not for it, in ms; 0: it sees to that itself. */
  readonly settlingMs?: number | undefined;
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
  /** Ctrl-Z and `fg`: the command is stopped once `before` has settled. Returns how to stop listening. */
  onStop(before: () => Promise<void>, after: () => void): () => void;
  /** `gone` is called when stdout is no longer read, which then does not end the process. Returns as above. */
  onReaderGone(gone: () => void): Promise<() => void>;
  /** Suspends the process like Ctrl-Z; resolves when the shell resumes it. */
  suspend(): Promise<void>;
}

/** A terminal to draw on. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly lifecycle: Lifecycle;
}
