/** The children that Node does not know: each is waited for when the system says that one has ended. */
import type { Libc } from "./libc.ts";

/** A look that nobody asked for, should the word of the system be lost; it also keeps the event loop alive. */
const LOOK_MS = 1_000;

export class Children {
  readonly #libc: Pick<Libc, "waitNow">;
  readonly #live = new Map<number, (status: number) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Pick<Libc, "waitNow">) {
    this.#libc = libc;
  }

  /** `spawn` gives the pid; what it throws is thrown. `ended` is the raw status. */
  start(spawn: () => number): { readonly pid: number; readonly ended: Promise<number> } {
    this.#listen();
    try {
      const pid = spawn();
      const ended = new Promise<number>((resolve) => this.#live.set(pid, resolve));
      return { pid, ended };
    } finally {
      this.#leave();
    }
  }

  /** While there are children, and once for all of them. */
  #listen(): void {
    if (this.#timer !== undefined) return;
    process.on("SIGCHLD", this.#reap);
    this.#timer = setInterval(this.#reap, LOOK_MS);
  }

  #leave(): void {
    if (this.#live.size > 0) return;
    process.off("SIGCHLD", this.#reap);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #reap = (): void => {
    for (const [pid, resolve] of this.#live) {
      const status = this.#libc.waitNow(pid);
      if (status === undefined) continue;
      this.#live.delete(pid);
      resolve(status);
    }
    this.#leave();
  };
}
