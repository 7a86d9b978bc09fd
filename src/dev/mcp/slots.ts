/** Bounds how many servers connect at the same time; later ones wait in a queue. */
import { abortable } from "../../lib/abort.ts";
import { MCP_LIMITS } from "./limits.ts";

type Kind = "local" | "remote";

export class Slots {
  readonly #free: Record<Kind, number> = {
    local: MCP_LIMITS.connectingLocal,
    remote: MCP_LIMITS.connectingRemote,
  };
  /** The waiters, at most one per server. */
  readonly #waiting: Record<Kind, (() => void)[]> = { local: [], remote: [] };

  /** Waits for a slot; returns a function that frees it. */
  async take(kind: Kind, signal: AbortSignal): Promise<() => void> {
    if (this.#free[kind] > 0) this.#free[kind]--;
    else await this.#wait(kind, signal);
    let isFreed = false;
    return () => {
      if (isFreed) return;
      isFreed = true;
      this.#release(kind);
    };
  }

  async #wait(kind: Kind, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#waiting[kind].push(turn.resolve);
    try {
      await abortable(turn.promise, signal);
    } catch (error) {
      const at = this.#waiting[kind].indexOf(turn.resolve);
      if (at === -1) this.#release(kind);
      else this.#waiting[kind].splice(at, 1);
      throw error;
    }
  }

  /** Passes the slot to the next waiter, or marks it as free. */
  #release(kind: Kind): void {
    const next = this.#waiting[kind].shift();
    if (next === undefined) this.#free[kind]++;
    else next();
  }
}
