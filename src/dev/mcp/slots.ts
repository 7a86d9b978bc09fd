/** How many servers connect at once: who comes later waits in line. */
import { abortable } from "../../lib/abort.ts";
import { MCP_LIMITS } from "./limits.ts";

type Kind = "local" | "remote";

export class Slots {
  readonly #free: Record<Kind, number> = {
    local: MCP_LIMITS.connectingLocal,
    remote: MCP_LIMITS.connectingRemote,
  };
  /** As many as there are servers. */
  readonly #waiting: Record<Kind, (() => void)[]> = { local: [], remote: [] };

  /** Gives back what frees the slot. */
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

  /** To the next in line, or back. */
  #release(kind: Kind): void {
    const next = this.#waiting[kind].shift();
    if (next === undefined) this.#free[kind]++;
    else next();
  }
}
