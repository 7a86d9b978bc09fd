/**
 * What answers where no model is set up: a small reader of intents that does a few things with the real tools, through
 * the real gate, and says what it cannot do. It is not a model, and counts no tokens.
 */
import type { Block, ModelCard, StreamEvent } from "../../abi/llm.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { cancelled } from "../http/failure.ts";
import { streamOf } from "../whole-blocks.ts";
import { answer } from "./answer.ts";

const name = "interpreter";
const limits = { maxInputTokens: 1_000_000, maxOutputTokens: 1_000_000, price: { input: 0, output: 0 } };
const supports = { tools: true, parallelTools: true, images: false };

/** The blocks of one reply, from the conversation alone. Throws LlmError for what it cannot do. */
type Mind = (request: AttemptRequest, signal: AbortSignal) => Iterable<Block> | AsyncIterable<Block>;

export class InterpreterDriver implements Driver {
  readonly name = name;
  readonly countsNothing = true;
  readonly #mind: Mind;

  constructor({ pid }: Pick<DriverCaller, "pid">, mind: Mind = (request) => answer(request, pid)) {
    this.#mind = mind;
  }

  card(): ModelCard {
    return { id: name, driver: name, ...limits, supports, known: true };
  }

  cost(): number {
    return 0;
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    try {
      signal.throwIfAborted();
      yield* streamOf(this.#mind(request, signal), { id: request.requestId, model: name });
    } catch (error) {
      throw signal.aborted ? cancelled(`/dev/llm/${name}`, signal.reason) : error;
    }
  }

  async check(): Promise<Check> {
    return { ok: true };
  }

  async close(): Promise<void> {}
}
