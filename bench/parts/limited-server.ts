/** A model server that enforces a rate as vendors do: a bucket, its state in the headers of each answer, refusals with a time. */
import { type Reply, rateLimit, text, toolUse } from "../../test/model-server/reply.ts";
import type { ModelRequest } from "../../test/model-server/request.ts";
import { type ModelServer, startModelServer } from "../../test/model-server/server.ts";

/** How long the model takes. */
const ANSWER_MS = 80;

export class LimitedServer {
  readonly http: ModelServer;
  readonly #provider: Provider;

  private constructor(http: ModelServer, provider: Provider) {
    this.http = http;
    this.#provider = provider;
  }

  static async start(perSecond: number): Promise<LimitedServer> {
    const provider = new Provider(perSecond);
    const script = (request: ModelRequest): Reply => provider.answer(request);
    return new LimitedServer(
      await startModelServer({ script, keepRequests: 4, validate: false, helperDefault: false }),
      provider,
    );
  }

  /** A new measurement: nobody was answered, and the bucket is full. */
  begin(): void {
    this.#provider.begin();
  }

  /** From now on agents are told that they are done. */
  finish(): void {
    this.#provider.isOver = true;
  }

  /** The times of accepted requests, by the agent that is named in them. */
  get accepted(): ReadonlyMap<string, readonly number[]> {
    return this.#provider.accepted;
  }

  get refused(): number {
    return this.#provider.refused;
  }
}

class Provider {
  readonly #perSecond: number;
  #level: number;
  #atMs = performance.now();
  accepted = new Map<string, number[]>();
  refused = 0;
  isOver = false;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#level = perSecond;
  }

  begin(): void {
    this.#level = this.#perSecond;
    this.#atMs = performance.now();
    this.accepted = new Map();
    this.refused = 0;
    this.isOver = false;
  }

  answer({ rawBody }: ModelRequest): Reply {
    const now = performance.now();
    this.#level = Math.min(this.#perSecond, this.#level + ((now - this.#atMs) / 1_000) * this.#perSecond);
    this.#atMs = now;
    const name = /agent-\w+/.exec(rawBody)?.[0] ?? "";
    if (this.#level < 1) {
      this.refused++;
      return rateLimit({ retryAfter: 1 }).headers(this.#headers());
    }
    this.#level--;
    this.accepted.set(name, [...(this.accepted.get(name) ?? []), now]);
    const isDone = this.isOver || /^agent-[ai]/.test(name);
    const reply = isDone ? text("Done.") : toolUse({ name: "ls", input: { path: "." } });
    return reply.headers(this.#headers()).delay(ANSWER_MS);
  }

  #headers(): Record<string, string> {
    return {
      "anthropic-ratelimit-requests-limit": String(this.#perSecond * 60),
      "anthropic-ratelimit-requests-remaining": String(Math.max(0, Math.floor(this.#level))),
    };
  }
}
