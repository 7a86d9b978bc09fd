import { setTimeout as pause } from "node:timers/promises";
import { STDOUT_CLOSED } from "../../lib/stdout-closed.ts";
import type { Lifecycle } from "../terminal/streams.ts";

/** Signals that end a process without a listener; Ctrl-C is handled in interrupts.ts. */
const DEADLY = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Time in the stopped state does not count: this passes after the shell has resumed us, in ms. */
const STOPPED_MS = 20;

export class NodeLifecycle implements Lifecycle {
  readonly #process: NodeJS.Process;

  constructor(process: NodeJS.Process) {
    this.#process = process;
  }

  onEnd(undo: () => void): () => void {
    const own = this.#process;
    const bySignal = (signal: NodeJS.Signals): void => {
      undo();
      release();
      // dies by the signal itself, as the shell expects
      own.kill(own.pid, signal);
    };
    const release = (): void => {
      own.off("exit", undo);
      own.off("uncaughtExceptionMonitor", undo);
      for (const signal of DEADLY) own.off(signal, bySignal);
    };
    own.on("exit", undo);
    // before the stack is printed, or it would disappear with the alternate screen
    own.on("uncaughtExceptionMonitor", undo);
    for (const signal of DEADLY) own.on(signal, bySignal);
    return release;
  }

  async endWithReader(): Promise<Disposable> {
    const { watchStdoutReader } = await import("../terminal/stdout-reader.ts");
    return watchStdoutReader(() => this.#process.exit(STDOUT_CLOSED));
  }

  onTerminate(stop: () => void): () => void {
    this.#process.on("SIGTERM", stop);
    return () => void this.#process.off("SIGTERM", stop);
  }

  onStop(before: () => Promise<void>, after: () => void): () => void {
    const own = this.#process;
    // whoever listens is not stopped by that signal
    const stop = (): void => void before().finally(() => own.kill(own.pid, "SIGSTOP"));
    own.on("SIGTSTP", stop);
    own.on("SIGCONT", after);
    return () => {
      own.off("SIGTSTP", stop);
      own.off("SIGCONT", after);
    };
  }

  async onReaderGone(gone: () => void): Promise<() => void> {
    const { watchStdoutReader } = await import("../terminal/stdout-reader.ts");
    const { stdout } = this.#process;
    const others = stdout.listeners("error") as Array<(error: Error) => void>;
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code === "EPIPE") gone();
      else for (const other of others) other(error);
    };
    stdout.removeAllListeners("error");
    stdout.on("error", failed);
    const watch = await watchStdoutReader(gone);
    return () => {
      watch[Symbol.dispose]();
      stdout.off("error", failed);
      for (const other of others) stdout.on("error", other);
    };
  }

  async suspend(): Promise<void> {
    // to the whole pipeline, as the terminal would
    this.#process.kill(0, "SIGTSTP");
    await pause(STOPPED_MS);
  }
}
