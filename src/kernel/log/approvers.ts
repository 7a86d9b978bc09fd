/**
 * The clients of a session that can answer its questions. A client that has left may return: until then questions wait,
 * up to the time in the settings. A session that never had such a client is headless.
 */
import type { ProcessEvent } from "../../abi/events.ts";
import { LateSet } from "../../lib/maps/late.ts";

/** The queue of one client. */
interface Approver {
  push(event: ProcessEvent): void;
}

export class Approvers {
  readonly #clients = new LateSet<Approver>();
  /** Monotonic ms when the last client left; null: one is attached, or there never was one. */
  leftMono: number | null = null;
  readonly #hooks = new LateSet<() => void>();

  /** Whether a client is attached, so that a published event will be read. */
  get isHeard(): boolean {
    return this.#clients.size > 0;
  }

  add(client: Approver): void {
    this.#clients.add(client);
    this.leftMono = null;
    this.#changed();
  }

  remove(client: Approver, mono: number): void {
    if (!this.#clients.delete(client)) return;
    if (this.#clients.size === 0) this.leftMono = mono;
    this.#changed();
  }

  /** Called for a session that had a client under an earlier daemon. */
  expect(mono: number): void {
    if (!this.isHeard) this.leftMono ??= mono;
  }

  publish(event: ProcessEvent): void {
    for (const client of this.#clients) client.push(event);
  }

  /** `hook` runs after a client has come or gone. Returns a function that removes it. */
  onChange(hook: () => void): () => void {
    this.#hooks.add(hook);
    return () => void this.#hooks.delete(hook);
  }

  #changed(): void {
    for (const hook of [...this.#hooks]) hook();
  }
}
