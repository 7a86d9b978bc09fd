/** Reasons for the daemon to stop: signals, the shutdown method, idleness, a bug in the daemon. */
import { Fault } from "../abi/errors.ts";
import type { Clock } from "../abi/program.ts";
import type { Log } from "../wire/server/deps.ts";
import type { DaemonHost, HostEvent } from "./host.ts";

/** After a bug the state cannot be trusted, but the journal can. The next client starts a fresh daemon. */
const EXIT_BUG = 70;
export const DEFAULT_IDLE_TIMEOUT = 60_000;
const IDLE_CHECK_EVERY = 5_000;

/** Why the journal was lost, and the exit code that reports it. */
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

  /** The failure of the journal; null: no failure so far. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Aborted at the failure. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Stops the daemon with this code, even if it is already stopping. Only the first failure counts. */
  fail(failure: Failure): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#failed.abort();
    this.request(failure.words);
  }

  /** Requests a stop and returns at once. Only the first request counts. */
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
 * The first SIGTERM or SIGINT requests an orderly stop, even if one was requested before; the second ends the process
 * at once. An uncaught exception is a bug: it is logged, and the process ends without touching anything further. An
 * unhandled rejection leaves all state intact: it is logged, and the user's processes keep running. The result removes
 * the listeners.
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

/** What a check sees. `accepted` reveals connections that came and went between two checks. */
interface Use {
  readonly active: number;
  readonly connections: number;
  readonly accepted: number;
}

/** Counts from the first check that found the daemon unused, so it never stops early: 60 to 65 s after the last use. */
export class IdleWatch {
  readonly #clock: Pick<Clock, "mono" | "sleep">;
  readonly #timeoutMs: () => number;
  #since: number | undefined;
  #accepted = 0;

  /** `timeoutMs` is called at each check; 0 means never. */
  constructor(clock: Pick<Clock, "mono" | "sleep">, timeoutMs: () => number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the daemon has been unused for the timeout; rejects when `signal` fires. */
  async untilIdle(look: () => Use, signal: AbortSignal): Promise<void> {
    // a timeout shorter than the interval is checked at its own length
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

/** The report of an error for the user: a fault explains itself, a bug needs the stack. */
export function reportOf(error: unknown): string {
  if (!(error instanceof Fault)) return stackOf(error);
  return `[${error.code}] ${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}`;
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
