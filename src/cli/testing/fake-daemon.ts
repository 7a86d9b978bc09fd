import type { MethodName, WireProc } from "../../abi/methods.ts";
import type { WireStreamLine } from "../../abi/wire.ts";
import type { DaemonAccess, DaemonClient, DaemonStream } from "../daemon-client.ts";

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

type Answers = { readonly [M in MethodName]?: (payload: unknown) => unknown };

/** Answers from a table; what it is asked is kept in `asked`. It counts what was left open. */
export class FakeDaemon implements DaemonAccess {
  readonly asked: Array<readonly [method: string, payload: unknown]> = [];
  /** How connections were come by. */
  readonly reached: string[] = [];
  openConnections = 0;
  isRunning = true;
  readonly #answers: Answers;
  readonly #feed: Feed;

  constructor(answers: Answers = {}, feed: Feed = new Feed().end()) {
    this.#answers = answers;
    this.#feed = feed;
  }

  async ensure(): Promise<DaemonClient> {
    this.reached.push("ensure");
    this.isRunning = true;
    return this.#client();
  }

  async find(): Promise<DaemonClient | undefined> {
    this.reached.push("find");
    return this.isRunning ? this.#client() : undefined;
  }

  async gone(): Promise<void> {
    this.reached.push("gone");
    this.isRunning = false;
  }

  async force(): Promise<boolean> {
    this.reached.push("force");
    return this.isRunning;
  }

  #client(): DaemonClient {
    this.openConnections++;
    let isOpen = true;
    const close = (): void => {
      if (isOpen) this.openConnections--;
      isOpen = false;
    };
    const answer = async (method: MethodName, payload: unknown): Promise<unknown> => {
      this.asked.push([method, payload]);
      return this.#answers[method]?.(payload);
    };
    return {
      request: (method, payload) => answer(method, payload) as Promise<never>,
      stream: async (method, payload) => {
        const response = await answer(method, payload);
        const end = (): void => {
          this.#feed.end();
          close();
        };
        return {
          response: response as never,
          lines: this.#feed.lines(),
          close: end,
        } satisfies DaemonStream<never>;
      },
      close,
    };
  }
}
