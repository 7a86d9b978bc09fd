/** What a server saw. Lists are live, in order of arrival, and bounded by `keep`: what comes later is only counted. */
import type { HttpRequest, ModelRequest } from "./request.ts";

export interface SideRequest extends HttpRequest {
  readonly status: number;
}

export interface Rejection {
  readonly request: HttpRequest;
  readonly status: number;
  readonly message: string;
}

export interface Surprise {
  readonly request: ModelRequest;
  readonly reason: string;
}

export interface AbortedReply {
  readonly request: ModelRequest;
  /** SSE events written before the client went. */
  readonly eventsSent: number;
}

interface Waiter {
  readonly predicate: () => boolean;
  readonly settle: (error?: Error) => void;
}

export class Traffic {
  /** Model requests that were valid, helper requests too. */
  readonly requests: ModelRequest[] = [];
  /** Everything else: probes, model lists, token counts, unknown paths. */
  readonly sideRequests: SideRequest[] = [];
  /** Requests refused by authentication or validation. A test of a good client wants this empty. */
  readonly rejected: Rejection[] = [];
  /** Requests the script had no reply for, and replies that did not go as scripted. */
  readonly unexpected: Surprise[] = [];
  /** Replies whose client closed the connection before their end. */
  readonly aborted: AbortedReply[] = [];
  requestCount = 0;
  inFlight = 0;
  silences = 0;
  pauses = 0;
  maxConcurrency = 0;
  readonly #keep: number;
  readonly #waiters = new Set<Waiter>();

  constructor(keep: number) {
    this.#keep = keep;
  }

  add<T>(list: T[], entry: T): void {
    if (list.length < this.#keep) list.push(entry);
  }

  began(request: ModelRequest): void {
    this.requestCount += 1;
    this.add(this.requests, request);
    this.inFlight += 1;
    this.maxConcurrency = Math.max(this.maxConcurrency, this.inFlight);
    this.changed();
  }

  /** Call after every change that a predicate may look at. */
  changed(): void {
    for (const waiter of this.#waiters) if (waiter.predicate()) waiter.settle();
  }

  /** Resolves as soon as `predicate` holds; it is asked again after every event on the server. */
  async waitFor(predicate: () => boolean, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (predicate()) return;
    const done = Promise.withResolvers<void>();
    const waiter: Waiter = {
      predicate,
      settle: (error) => (error === undefined ? done.resolve() : done.reject(error)),
    };
    const onAbort = () =>
      waiter.settle(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await done.promise;
    } finally {
      this.#waiters.delete(waiter);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Fails whoever still waits. */
  close(): void {
    for (const waiter of this.#waiters) waiter.settle(new Error("the model server was closed"));
  }
}
