/**
 * The prompt caches that work by themselves: the longest beginning of a request that an earlier one had, too. Blocks in the
 * order tools, instructions, conversation; counted in steps of 128 tokens, from a least length on.
 * https://platform.openai.com/docs/guides/prompt-caching https://ai.google.dev/gemini-api/docs/caching
 */
import { createHash } from "node:crypto";
import type { CacheUse, PromptCacheOptions } from "./anthropic/prompt-cache.ts";
import type { JsonObject } from "./json.ts";

const STEP = 128;

export class PrefixCache {
  readonly #minTokens: number;
  readonly #known = new Set<string>();

  constructor({ minTokens = 1_024 }: PromptCacheOptions) {
    this.#minTokens = minTokens;
  }

  use(body: JsonObject): CacheUse {
    const hash = createHash("sha256");
    let [tokens, read] = [0, 0];
    let isKnown = true;
    for (const block of blocksOf(body)) {
      const text = JSON.stringify(block);
      const digest = hash.update(text).update("\n").copy().digest("hex");
      tokens += Math.ceil(text.length / 4);
      isKnown &&= this.#known.has(digest);
      if (isKnown) read = tokens;
      this.#known.add(digest);
    }
    const cached = read < this.#minTokens ? 0 : Math.floor(read / STEP) * STEP;
    return { read: cached, write: 0, write1h: 0, input: tokens - cached };
  }
}

function blocksOf(body: JsonObject): readonly unknown[] {
  const { tools, instructions, systemInstruction, messages, input, contents } = body;
  const said = messages ?? input ?? contents;
  const head = [tools, instructions, systemInstruction].filter((part) => part !== undefined);
  return [...head, ...(Array.isArray(said) ? said : [said])];
}
