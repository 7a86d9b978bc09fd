import type { MethodName } from "../../abi/methods/methods.ts";
import type { WireProc, WireRow } from "../../abi/methods/process.ts";
import type { WireStreamLine } from "../../abi/wire.ts";
import { abortable } from "../../lib/abort.ts";
import type { DaemonAccess, DaemonClient, DaemonStream } from "../daemon/client.ts";

export function aProcess(change: Partial<WireProc> = {}): WireProc {
  return {
    pid: 1,
    ppid: 0,
    state: "running",
    intent: "分析代码",
    skills: ["code-analysis"],
    tokens_used: 456,
    elapsed_ms: 3200,
    kind: "agent",
    activity: "thinking",
    created_at: "2026-01-01T00:00:00.000Z",
    ctx_id: 1,
    allowed_devices: null,
    groups: [],
    result: "",
    exit: null,
    ...change,
  };
}

export function aRow(change: Partial<WireRow> = {}): WireRow {
  return {
    ...aProcess(),
    name: "code-analyst",
    model: "sonnet",
    threads: 0,
    coroutines: 0,
    ...change,
  };
}

/** A stream the test feeds: lines in order, then its end. */
export class Feed {
  readonly #lines: WireStreamLine[] = [];
  #hasEnded = false;
  #wake: () => void = () => {};

  push(...lines: WireStreamLine[]): this {
    this.#lines.push(...lines);
    this.#wake();
    return this;
  }

  end(): this {
    this.#hasEnded = true;
    this.#wake();
    return this;
  }

  async *lines(): AsyncGenerator<WireStreamLine> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else if (this.#hasEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

export type Answers = { readonly [M in MethodName]?: (payload: unknown) => unknown };

/** Answers from a table; records the requests in `asked` and counts the connections left open. */
export class FakeDaemon implements DaemonAccess {
  readonly asked: Array<readonly [method: string, payload: unknown]> = [];
  /** How each connection was obtained. */
  readonly reached: string[] = [];
  openConnections = 0;
  isRunning = true;
  readonly #answers: Answers;
  readonly #feed: (method: MethodName) => Feed;

  /** `feed`: for every stream, or by method. */
  constructor(answers: Answers = {}, feed: Feed | { readonly [M in MethodName]?: Feed } = {}) {
    this.#answers = answers;
    this.#feed = (method) => (feed instanceof Feed ? feed : (feed[method] ?? new Feed().end()));
  }

  async ensure(): Promise<DaemonClient> {
    this.reached.push("ensure");
    this.isRunning = true;
    return this.#client();
  }

  async kernel(): Promise<never> {
    throw new Error("this daemon speaks the text wire alone");
  }

  async find(): Promise<DaemonClient | undefined> {
    this.reached.push("find");
    return this.isRunning ? this.#client() : undefined;
  }

  /** The lines of `crux fsck` when no daemon runs. */
  offlineFeed = new Feed().end();

  async *offline(words: readonly string[]): AsyncGenerator<WireStreamLine> {
    this.reached.push("offline");
    this.asked.push(["offline", words]);
    yield* this.offlineFeed.lines();
  }

  async gone(): Promise<void> {
    this.reached.push("gone");
    this.isRunning = false;
  }

  async force(): Promise<boolean> {
    this.reached.push("force");
    return this.isRunning;
  }

  async forgetDeaths(): Promise<void> {
    this.reached.push("forgetDeaths");
  }

  #client(): DaemonClient {
    this.openConnections++;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.openConnections--;
      isOpen = false;
    };
    const answer = async (method: MethodName, payload: unknown, signal?: AbortSignal): Promise<unknown> => {
      this.asked.push([method, payload]);
      const given = Promise.resolve(this.#answers[method]?.(payload));
      return signal === undefined ? given : abortable(given, signal);
    };
    return {
      request: (method, payload, signal) => answer(method, payload, signal) as Promise<never>,
      stream: async (method, payload, signal) => {
        const response = await answer(method, payload, signal);
        const feed = this.#feed(method);
        const end = (): void => {
          feed.end();
          close();
        };
        signal?.addEventListener("abort", end, { once: true });
        return {
          response: response as never,
          lines: feed.lines(),
          close: end,
        } satisfies DaemonStream<never>;
      },
      close,
    };
  }
}
