/** A model server that asks for `echo hi` so many times, and notes when each request came and when its answer had left. */
import { subscribe } from "node:diagnostics_channel";
import { text, toolUse } from "../../test/model-server/reply.ts";
import { type ModelServer, startModelServer } from "../../test/model-server/server.ts";

/** By the machine's monotonic clock, ms. */
interface Exchange {
  readonly arrived: number;
  answered: number;
}

export class TurnServer {
  readonly http: ModelServer;
  readonly #calls: { wanted: number };
  #exchanges: Exchange[] = [];

  private constructor(http: ModelServer, calls: { wanted: number }) {
    this.http = http;
    this.#calls = calls;
    subscribe("http.server.request.start", () =>
      this.#exchanges.push({ arrived: monotonicMs(), answered: Number.NaN }),
    );
    subscribe("http.server.response.finish", () => {
      const last = this.#exchanges.at(-1);
      if (last !== undefined) last.answered = monotonicMs();
    });
  }

  static async start(): Promise<TurnServer> {
    const calls = { wanted: 0 };
    const script = ({ assistantTurns }: { readonly assistantTurns: number }) =>
      assistantTurns < calls.wanted
        ? toolUse({ name: "bash", input: { command: "echo hi" } })
        : text("Done.");
    return new TurnServer(await startModelServer({ script, keepRequests: 4, validate: false }), calls);
  }

  /** The exchanges of one conversation with `calls` shell calls, one after another. */
  conversation(calls: number, run: () => Promise<unknown>): Promise<readonly Exchange[]> {
    return this.conversations(1, calls, run);
  }

  /** Of as many at once. */
  async conversations(
    count: number,
    calls: number,
    run: () => Promise<unknown>,
  ): Promise<readonly Exchange[]> {
    this.#calls.wanted = calls;
    this.#exchanges = [];
    await run();
    const requests = this.#exchanges.length;
    if (requests !== count * (calls + 1)) throw new Error(`${requests} requests of ${count * (calls + 1)}`);
    return this.#exchanges;
  }

  env(others: Readonly<Record<string, string>>): Record<string, string> {
    return { ...others, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: this.http.anthropicBaseUrl };
  }
}

export type { Exchange };

/** From one request to the next. */
export function turnTimes(exchanges: readonly Exchange[]): number[] {
  return exchanges.slice(1).map(({ arrived }, at) => arrived - (exchanges[at] as Exchange).arrived);
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
