/** Measures what an attempt consumed, from its events: the basis of its charge, even if the attempt breaks off. */
import type { Charge } from "../abi/effects.ts";
import { charsOf, type LlmErrorKind, type StreamEvent, totalTokens, type Usage } from "../abi/llm.ts";
import type { AttemptRequest, Driver } from "./driver.ts";
import { estimateInput } from "./estimate.ts";
import { NO_USAGE } from "./fold.ts";
import { isSameModel } from "./names.ts";
import { costAt, type Price } from "./prices.ts";

/** Kinds of failure after which the provider may have worked although it sent no event. */
const unknownOutcome: ReadonlySet<LlmErrorKind> = new Set([
  "timeout",
  "stream_stalled",
  "cancelled",
] as const);

/** The event with counts that are counts: a server that reports fewer than no tokens would give money back. */
export function counted(event: StreamEvent): StreamEvent {
  if (event.type === "message_start")
    return { ...event, message: { ...event.message, usage: countsOf(event.message.usage) } };
  return event.type === "message_delta" ? { ...event, usage: countsOf(event.usage) } : event;
}

function countsOf(usage: Usage): Usage {
  if (Object.values(usage).every((count) => count >= 0)) return usage;
  const counts = Object.entries(usage).map(([name, count]) => [name, Math.max(0, count || 0)] as const);
  return { ...usage, ...Object.fromEntries(counts) };
}

export class Meter {
  #usage: Usage = NO_USAGE;
  readonly #findPrice: (id: string) => Price | undefined;
  #model = "";
  #hasStarted = false;
  #isComplete = false;
  #hasStopReason = false;
  #receivedChars = 0;

  constructor(findPrice: (id: string) => Price | undefined = () => undefined) {
    this.#findPrice = findPrice;
  }

  /** Whether the server said why it stopped: a reply without that may be only a part of one. */
  get hasStopReason(): boolean {
    return this.#hasStopReason;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  see(event: StreamEvent): void {
    if (event.type === "message_start") {
      this.#hasStarted = true;
      this.#usage = event.message.usage;
      this.#model = event.message.model;
    } else if (event.type === "content_block_delta") {
      this.#receivedChars += charsOf(event.delta);
    } else if (event.type === "message_delta") {
      this.#usage = event.usage;
      this.#hasStopReason = true;
    } else if (event.type === "message_stop") {
      this.#isComplete = true;
    }
  }

  /**
   * The charge: the reported usage, else estimated input plus received output. `failure`: the kind of a failed attempt.
   */
  charge(driver: Driver, request: AttemptRequest, failure: LlmErrorKind | undefined): Charge {
    const usage = driver.countsNothing === true ? NO_USAGE : this.#settled(request, failure);
    const { purpose } = request;
    const asked = driver.card(request.model).id;
    const model = this.#model || asked;
    const isOther = !isSameModel(asked, model);
    const price = this.#findPrice(model) ?? this.#findPrice(asked);
    const usd =
      price === undefined
        ? this.#costOf(driver, isOther ? null : request.model, usage)
        : costAt(price, usage);
    return {
      tokens: totalTokens(usage),
      usd,
      model,
      ...(isOther ? { askedModel: asked } : {}),
      purpose,
      usage,
    };
  }

  /** The cost by the server's name for the model, else by `asked`, which is null if another model answered. */
  #costOf(driver: Driver, asked: string | null, usage: Usage): number | null {
    const told = this.#model === "" ? null : driver.cost(this.#model, usage);
    return told ?? (asked === null ? null : driver.cost(asked, usage));
  }

  #settled(request: AttemptRequest, failure: LlmErrorKind | undefined): Usage {
    if (this.#isComplete && totalTokens(this.#usage) > 0) return this.#usage;
    const isFree = failure !== undefined && !unknownOutcome.has(failure) && !this.#hasStarted;
    if (isFree) return NO_USAGE;
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = this.#usage;
    const isReported = input_tokens + cache_creation_input_tokens + cache_read_input_tokens > 0;
    return {
      ...this.#usage,
      input_tokens: isReported ? input_tokens : estimateInput(request),
      output_tokens: Math.max(this.#usage.output_tokens, Math.ceil(this.#receivedChars / 4)),
    };
  }
}
