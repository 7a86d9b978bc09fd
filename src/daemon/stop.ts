/** Why the daemon should stop, and who may say so: signals, the shutdown method, idleness, a fault of the daemon. */
import { Fault } from "../abi/errors.ts";
import type { Clock } from "../abi/program.ts";
import type { Log } from "../wire/server/deps.ts";
import type { DaemonHost, HostEvent } from "./host.ts";

/** A state that no test has seen cannot be trusted; the journal can. The next client starts a fresh daemon. */
const EXIT_BUG = 70;
export const DEFAULT_IDLE_TIMEOUT = 60_000;
const IDLE_CHECK_EVERY = 5_000;

/** Why nothing can be kept any more, and how the daemon says so to who started it. */
interface Failure {
  readonly words: string;
  readonly code: number;
}

export class StopRequest {
  readonly #controller = new AbortController();
  readonly #failed = new AbortController();
  #reason = "";
  #failure: Failure | null = null;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): string {
    return this.#reason;
  }

  /** Nothing more can be kept; null: all is well so far. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Fires at the failure. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Stops it with this code, also one that is stopping already. Only the first counts. */
  fail(failure: Failure): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#failed.abort();
    this.request(failure.words);
  }

  /** Only the first counts. Returns at once. */
  request(reason: string): void {
    if (this.signal.aborted) return;
    this.#reason = reason;
    this.#controller.abort();
  }

  requested(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener("abort", () => resolve(), { once: true }));
  }
}

/**
 * The first SIGTERM or SIGINT asks for an orderly stop, whatever asked before; the second ends the process at once. An
 * uncaught exception is a bug: logged, and the process ends without touching anything further. A rejection that nobody
 * awaited has broken no one's state: it is logged, and the processes of the user run on. The result takes it all back.
 */
export function listen(host: DaemonHost, stop: StopRequest, log: Log): () => void {
  let signals = 0;
  const end = (name: string, code: number) => () => {
    signals++;
    if (signals > 1) {
      log("warn", `second signal (${name}): exit at once`);
      host.exit(code);
    } else stop.request(name);
  };
  const handlers: [HostEvent, (error?: unknown) => void][] = [
    ["SIGTERM", end("SIGTERM", 143)],
    ["SIGINT", end("SIGINT", 130)],
    [
      "uncaughtException",
      (error) => {
        log("error", `uncaught exception, exit: ${stackOf(error)}`);
        host.exit(EXIT_BUG);
      },
    ],
    ["unhandledRejection", (error) => log("error", `unhandled rejection: ${stackOf(error)}`)],
  ];
  for (const [event, act] of handlers) host.on(event, act);
  return () => {
    for (const [event, act] of handlers) host.off(event, act);
  };
}

/** What a check sees. `accepted` tells of connections that came and went between two checks. */
interface Use {
  readonly active: number;
  readonly connections: number;
  readonly accepted: number;
}

/** Counts from the first check that found nothing, so it never stops early: 60 to 65 s after the last use. */
export class IdleWatch {
  readonly #clock: Pick<Clock, "mono" | "sleep">;
  readonly #timeoutMs: () => number;
  #since: number | undefined;
  #accepted = 0;

  /** `timeoutMs` is asked at each check; 0 is never. */
  constructor(clock: Pick<Clock, "mono" | "sleep">, timeoutMs: () => number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the daemon has been unused for its time; rejects when `signal` fires. */
  async untilIdle(look: () => Use, signal: AbortSignal): Promise<void> {
    // a shorter time is checked as often as it is long
    const every = () => Math.min(IDLE_CHECK_EVERY, this.#timeoutMs() || IDLE_CHECK_EVERY);
    do await this.#clock.sleep(every(), signal);
    while (!this.#isOver(look()));
  }

  #isOver(use: Use): boolean {
    const [now, timeoutMs] = [this.#clock.mono(), this.#timeoutMs()];
    const used = use.active > 0 || use.connections > 0 || use.accepted !== this.#accepted;
    this.#accepted = use.accepted;
    if (used) this.#since = undefined;
    else this.#since ??= now;
    return timeoutMs > 0 && this.#since !== undefined && now - this.#since >= timeoutMs;
  }
}

/** For a person: a fault says what is wrong in its own words, of a bug we need the stack. */
export function reportOf(error: unknown): string {
  if (!(error instanceof Fault)) return stackOf(error);
  return `[${error.code}] ${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}`;
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
