/**
 * The clients of a session that can answer its questions. One that has left may come back: until then its questions wait, for as
 * long as the settings say. A session that never had one is headless.
 */
import type { ProcessEvent } from "../../abi/events.ts";

/** The queue of one client. */
interface Approver {
  push(event: ProcessEvent): void;
}

export class Approvers {
  readonly #clients = new Set<Approver>();
  /** Since when nobody is there, monotonic ms; null: somebody is, or nobody ever was. */
  leftMono: number | null = null;
  readonly #hooks = new Set<() => void>();

  /** Somebody is there: what is published now will be read. */
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

  /** It had one under an earlier daemon. */
  expect(mono: number): void {
    if (!this.isHeard) this.leftMono ??= mono;
  }

  publish(event: ProcessEvent): void {
    for (const client of this.#clients) client.push(event);
  }

  /** `hook` runs when somebody came or went; returns the way to take it back. */
  onChange(hook: () => void): () => void {
    this.#hooks.add(hook);
    return () => void this.#hooks.delete(hook);
  }

  #changed(): void {
    for (const hook of [...this.#hooks]) hook();
  }
}
