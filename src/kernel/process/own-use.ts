/** What a process has used by its own calls, as far as this daemon knows. The account holds the use of its subtree. */
import type { Charge } from "../../abi/effects.ts";
import { charsOf, type StreamEvent } from "../../abi/llm.ts";
import { microUsd } from "../../lib/usd.ts";

export class OwnUse {
  #tokens = 0;
  #microUsd = 0;
  #unpricedCalls = 0;
  #cached = 0;
  #thinking = 0;
  #toolCalls = 0;
  #coming = 0;

  get tokens(): number {
    return this.#tokens;
  }

  /** Millionths of a dollar. */
  get microUsd(): number {
    return this.#microUsd;
  }

  /** An estimate of the tokens of a reply that arrives, which are not charged yet. */
  get comingTokens(): number {
    return Math.ceil(this.#coming / 4);
  }

  /** Tokens of input that servers had cached. */
  get cached(): number {
    return this.#cached;
  }

  /** Tokens of output that were thinking, where servers say so. */
  get thinking(): number {
    return this.#thinking;
  }

  /** Calls of tools by its model that have a result. */
  get toolCalls(): number {
    return this.#toolCalls;
  }

  /** Calls of unknown price made under this daemon. */
  get unpricedCalls(): number {
    return this.#unpricedCalls;
  }

  /** Its cost, without what is zero. */
  get paid(): { readonly microUsdUsed?: number; readonly unpricedCalls?: number } {
    return {
      ...(this.#microUsd === 0 ? {} : { microUsdUsed: this.#microUsd }),
      ...(this.#unpricedCalls === 0 ? {} : { unpricedCalls: this.#unpricedCalls }),
    };
  }

  /** A reply begins, from which nothing has come. */
  begins(): void {
    this.#coming = 0;
  }

  comes(piece: StreamEvent): void {
    if (piece.type === "content_block_delta") this.#coming += charsOf(piece.delta);
  }

  /** Adds the charge of one call. */
  add({ tokens, usd, usage }: Charge): void {
    this.#coming = 0;
    this.#tokens += tokens;
    this.#microUsd += microUsd(usd ?? 0);
    this.#cached += usage?.cache_read_input_tokens ?? 0;
    this.#thinking += usage?.reasoning_tokens ?? 0;
    if (usd === null && tokens > 0) this.#unpricedCalls++;
  }

  calledTool(): void {
    this.#toolCalls++;
  }

  /** Adds the use recorded by earlier daemons. */
  carryOver(
    earlier: Partial<Record<"tokens" | "microUsd" | "cached" | "thinking" | "toolCalls", number>>,
  ): void {
    this.#tokens += earlier.tokens ?? 0;
    this.#microUsd += earlier.microUsd ?? 0;
    this.#cached += earlier.cached ?? 0;
    this.#thinking += earlier.thinking ?? 0;
    this.#toolCalls += earlier.toolCalls ?? 0;
  }
}
