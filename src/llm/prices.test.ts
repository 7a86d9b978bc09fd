import { describe, expect, it } from "vitest";
import { costAt, dearest, findPrice } from "./prices.ts";

const usage = (input: number, output: number, read = 0, write = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_creation_input_tokens: write,
  cache_read_input_tokens: read,
});

describe("findPrice()", () => {
  const settings = {
    "gpt-": { price: { input: 1, output: 2 } },
    "gpt-7-pro": { price: { input: 10, output: 20, cacheRead: 1, cacheWrite: 12 } },
    "gpt-7": {},
  };

  it("takes the longest beginning of the id that has a price", () => {
    expect(findPrice(settings, "gpt-7-pro-2027")?.input).toBe(10);
    expect(findPrice(settings, "gpt-7-mini")?.input).toBe(1);
    expect(findPrice(settings, "claude")).toBeUndefined();
  });

  it("counts cached tokens as input where nothing else is said", () => {
    const price = findPrice(settings, "gpt-1");
    expect(price).toEqual({ input: 1, output: 2, cacheRead: 1, cacheWrite: 1 });
  });
});

describe("costAt()", () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

  it("prices input, output, cache reads and writes apart", () => {
    expect(costAt(price, usage(1e6, 0))).toBe(3);
    expect(costAt(price, usage(0, 1e6))).toBe(15);
    expect(costAt(price, usage(0, 0, 1e6))).toBe(0.3);
    expect(costAt(price, usage(0, 0, 0, 1e6))).toBe(3.75);
  });

  it("never costs more than what is reserved at the dearest rates", () => {
    const long = { above: 10, input: 6, output: 20, cacheRead: 1, cacheWrite: 7 };
    const worst = dearest({ ...price, long });
    for (const each of [usage(5, 5), usage(11, 5), usage(4, 9, 3, 8), usage(0, 0, 50, 50)]) {
      const input = each.input_tokens + each.cache_read_input_tokens + each.cache_creation_input_tokens;
      const bound = (input * worst.input + each.output_tokens * worst.output) / 1e6;
      expect(costAt({ ...price, long }, each)).toBeLessThanOrEqual(bound);
    }
  });
});
