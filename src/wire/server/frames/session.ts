/** The state of a binary connection: what it has agreed on, who it acts for, and its open requests. */
import { Fault } from "../../../abi/errors.ts";
import type { Feature } from "../../../abi/ipc.ts";
import type { Clock } from "../../../abi/program.ts";
import { ABORTED, abortable } from "../../../lib/abort.ts";
import { MAX_TIMER_MS } from "../../../lib/max-timer.ts";
import type { Desk, ServerContext } from "../desk.ts";
import type { RequestContext } from "../handler.ts";
import type { Session } from "./call.ts";
import { Scopes } from "./scopes.ts";

export interface OpenRequest {
  readonly signal: AbortSignal;
  /** The value, or the reason for which the request was ended before. */
  until<T>(value: Promise<T>): Promise<T>;
  end(): void;
}

export class FrameSession implements Session {
  readonly scopes: Scopes;
  readonly desk: Desk;
  readonly #look: () => ServerContext;
  readonly #open = new Map<string, AbortController>();
  /** Requests that wait for something which may never come end when the client sends no more. */
  readonly #closed = new AbortController();
  #features: ReadonlySet<Feature> = new Set();
  #requests = 0;
  /** It showed a token that is not its own: the connection closes after the answer. */
  isRefused = false;

  constructor(desk: Desk, look: () => ServerContext) {
    this.desk = desk;
    this.#look = look;
    this.scopes = new Scopes(() => desk.principal);
  }

  get features(): ReadonlySet<Feature> {
    return this.#features;
  }

  get open(): number {
    return this.#open.size;
  }

  context(): RequestContext {
    return this.desk.context();
  }

  greet(features: readonly Feature[]): void {
    // the hello itself is counted
    if (this.#requests > 1)
      throw new Fault({ code: "CONFLICT", message: "kernel.hello comes once, and before other requests" });
    this.#features = new Set(features);
  }

  become(token: string): void {
    const { kernel, tokens } = this.#look();
    const capability = tokens?.find(token);
    const client = capability === undefined ? undefined : kernel.clientOf(capability.uuid);
    const { principal } = this.desk;
    const isOwn = principal.kind !== "process" || principal.client.pid === client?.pid;
    if (capability === undefined || client === undefined || principal.kind === "guest" || !isOwn)
      throw this.refusal("PERMISSION", "the token is not one of this process, or has ended");
    this.desk.become({ kind: "process", client });
    this.scopes.hold(token, capability);
  }

  /** The connection closes after this answer. */
  refusal(code: "PERMISSION" | "UNAVAILABLE", message: string, details?: object): Fault {
    this.isRefused = true;
    return new Fault({ code, message, details });
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  begin(id: string, timeoutMs: number | undefined, clock: Pick<Clock, "sleep">): OpenRequest {
    this.#requests++;
    const control = new AbortController();
    this.#open.set(id, control);
    const done = timeoutMs === undefined || timeoutMs > MAX_TIMER_MS ? undefined : new AbortController();
    if (timeoutMs !== undefined && done !== undefined)
      clock.sleep(timeoutMs, done.signal).then(
        () => control.abort(new Fault({ code: "TIMEOUT", message: `no result after ${timeoutMs} ms` })),
        () => {},
      );
    return {
      signal: control.signal,
      until: (value) => abortable(value, control.signal),
      end: () => {
        done?.abort(ABORTED);
        if (this.#open.get(id) === control) this.#open.delete(id);
      },
    };
  }

  cancel(id: string): boolean {
    const open = this.#open.get(id);
    const details = { effect: "unknown" };
    open?.abort(new Fault({ code: "CANCELLED", message: "cancelled by the client", details }));
    return open !== undefined;
  }

  /** The client sends no more. */
  settle(): void {
    this.#closed.abort(ABORTED);
  }

  close(): void {
    this.settle();
    for (const open of this.#open.values()) open.abort(ABORTED);
  }
}
