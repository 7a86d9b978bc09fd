/** Follows another process as the terminal follows its own, by the same events, while a view of it is open. It only reads. */
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../abi/errors.ts";
import type { WireEvent } from "../abi/wire-events.ts";
import type { DaemonAccess } from "../cli/daemon/client.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { EMPTY, type Model } from "./state/model.ts";
import { reduce } from "./state/reduce.ts";

/** How long it waits before it reaches for a daemon that is gone, in ms. */
const AGAIN_MS = 1_000;

interface Onlooking {
  readonly daemon: DaemonAccess;
  readonly words: Phrases;
  /** The name of this client. */
  readonly client: string;
  nowMono(): number;
  /** It begins to follow, at first and after the daemon was gone: what was said before is in the history. */
  begun(): void;
  changed(): void;
}

export class Onlooker implements Disposable {
  readonly #pid: number;
  readonly #with: Onlooking;
  readonly #left = new AbortController();
  /** What was said since it follows. */
  model: Model = EMPTY;

  constructor(pid: number, onlooking: Onlooking) {
    this.#pid = pid;
    this.#with = onlooking;
    void this.#follow();
  }

  [Symbol.dispose](): void {
    this.#left.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#left;
    while (!signal.aborted) {
      try {
        if (await this.#toItsEnd(signal)) return;
      } catch (error) {
        // it has ended, and only its history is left
        if (codeOf(error) === "NOT_FOUND") return;
      }
      await pause(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** False: the connection ended before the process did. */
  async #toItsEnd(signal: AbortSignal): Promise<boolean> {
    const { daemon, words, client, nowMono, begun, changed } = this.#with;
    const pid = this.#pid;
    const connection = await daemon.ensure(signal);
    try {
      const wish = { verbose: true, calls: true, detail: "deltas" } as const;
      const { lines } = await connection.stream("process.attach", { pid, ...wish }, signal);
      const { dropped, entries } = this.model;
      this.model = { ...EMPTY, pid, dropped: dropped + entries.length };
      begun();
      for await (const { payload } of lines) {
        const event = payload as WireEvent;
        this.model = reduce(this.model, event, { words, client, mono: nowMono() });
        changed();
        if (event.event === "complete") return true;
      }
      return false;
    } finally {
      connection.close();
    }
  }
}
