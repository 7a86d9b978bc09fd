/**
 * The session at the other end of the wire: begun or opened, followed, and opened again when the daemon is gone. What was said
 * meanwhile comes from its history.
 */
import type { SpawnRequest } from "../abi/methods/process.ts";
import type { WireHistoryItem, WireSession } from "../abi/methods/session.ts";
import type { WireEvent } from "../abi/wire-events.ts";
import type { DaemonStream } from "../cli/daemon/client.ts";
import type { Host } from "../cli/host/host.ts";
import { clientEnvironment } from "../cli/run/environment.ts";
import type { KnownSession } from "./state/catch-up.ts";

/** How long it waits before each attempt to reach the daemon again, in ms; the last one repeats. */
const AGAIN_MS = [500, 1_000, 2_000, 4_000, 8_000] as const;
/** How much of what was said is shown. */
const PAGE = 50;

export interface Follower {
  /** What was said in a session that is being opened, which takes longer the more its model sees. */
  known(at: KnownSession): void;
  /** The session is there. `items`: what was said; `isAgain`: after the daemon was gone. */
  opened(at: Opened): void;
  event(event: WireEvent): void;
  lost(): void;
}

export interface Opened extends KnownSession {
  /** undefined: it has just begun. */
  readonly session: WireSession | undefined;
  readonly isAgain: boolean;
  readonly uuid: string | undefined;
  readonly sandbox?: string | undefined;
}

export type Start =
  | { readonly kind: "new"; readonly request: SpawnRequest }
  | { readonly kind: "session"; readonly pid: number };

/** Time, so that tests need not wait. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export class Link {
  readonly #host: Host;
  readonly #client: string;
  readonly #follower: Follower;
  readonly #wait: Wait;
  readonly #left = new AbortController();
  #stream: Pick<DaemonStream<unknown>, "close"> | undefined;

  constructor(host: Host, client: string, { follower, wait }: { follower: Follower; wait: Wait }) {
    this.#host = host;
    this.#client = client;
    this.#follower = follower;
    this.#wait = wait;
  }

  /** The exit code of the process; undefined: the user left before its end. Rejects when it cannot be begun or opened. */
  async follow(start: Start): Promise<number | undefined> {
    let at = await this.#first(start);
    for (;;) {
      if (at === undefined) return undefined;
      const code = await this.#pump(at.lines);
      if (code !== undefined || this.#left.signal.aborted) return code;
      this.#follower.lost();
      at = await this.#again(at.pid);
    }
  }

  /** Rejects when the session cannot be opened. */
  async check(pid: number): Promise<void> {
    const daemon = await this.#host.daemon.ensure(this.#left.signal);
    const stream = await daemon.stream("session.open", { pid, env: clientEnvironment(this.#host.env) });
    stream.close();
  }

  leave(): void {
    this.#left.abort();
    this.#stream?.close();
  }

  /** undefined: the user left before it was there. */
  async #first(start: Start) {
    try {
      return await (start.kind === "new" ? this.#begin(start.request) : this.#open(start.pid, false));
    } catch (error) {
      if (this.#left.signal.aborted) return undefined;
      throw error;
    }
  }

  async #begin(request: SpawnRequest) {
    const daemon = await this.#host.daemon.ensure(this.#left.signal);
    const stream = await daemon.stream("spawn", {
      ...request,
      session: true,
      client: this.#client,
      interactive: true,
      calls: true,
      detail: "deltas",
    });
    this.#stream = stream;
    const { pid, sandbox, uuid } = stream.response;
    this.#follower.opened({ pid, uuid, session: undefined, items: [], isAgain: false, sandbox });
    return { pid, lines: stream.lines };
  }

  async #open(pid: number, isAgain: boolean) {
    // why there is none is said by the daemon that cannot open it
    const known = isAgain ? undefined : await this.#history(pid).catch(() => undefined);
    if (known !== undefined) this.#follower.known({ pid, items: known });
    const daemon = await this.#host.daemon.ensure(this.#left.signal);
    const env = clientEnvironment(this.#host.env);
    const wish = { interactive: true, verbose: true, calls: true, detail: "deltas" } as const;
    const stream = await daemon.stream("session.open", { pid, env, ...wish });
    this.#stream = stream;
    // with what was said since
    const items = await this.#history(pid);
    const session = stream.response;
    this.#follower.opened({ pid, uuid: session.uuid, session, items, isAgain });
    return { pid, lines: stream.lines };
  }

  async #history(pid: number): Promise<readonly WireHistoryItem[]> {
    const daemon = await this.#host.daemon.ensure(this.#left.signal);
    try {
      return (await daemon.request("session.history", { pid, limit: PAGE, made: true })).messages;
    } finally {
      daemon.close();
    }
  }

  async #pump(lines: DaemonStream<unknown>["lines"]): Promise<number | undefined> {
    for await (const { payload } of lines) {
      const event = payload as WireEvent;
      this.#follower.event(event);
      if (event.event === "complete") return event.exit_code;
    }
    return undefined;
  }

  /** undefined: the user left meanwhile. */
  async #again(pid: number) {
    for (let tries = 0; ; tries++) {
      await this.#wait(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] ?? 0, this.#left.signal);
      if (this.#left.signal.aborted) return undefined;
      try {
        return await this.#open(pid, true);
      } catch {
        if (this.#left.signal.aborted) return undefined;
      }
    }
  }
}
