import { describe, expect, test } from "vitest";
import { countsIn, Gauge } from "./gauge.ts";

const FACTS = { window: 128_000, maxOutput: 16_000, auto: true, compact: true };
const usage = (input_tokens: number) => ({
  ...{ input_tokens, output_tokens: 9 },
  ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
});

describe("used()", () => {
  test("is the estimate with a margin, until a reply has said more", () => {
    const gauge = new Gauge(FACTS);
    expect(gauge.used(10_000)).toBe(11_000);
    gauge.answered(10_000, usage(15_000));
    expect(gauge.used(10_000)).toBe(15_000);
    expect(gauge.used(12_000)).toBe(18_000);
    gauge.moved();
    expect(gauge.used(4_000)).toBe(6_000);
  });

  test("does not believe a server that reports next to nothing", () => {
    const gauge = new Gauge(FACTS);
    gauge.answered(50_000, usage(1));
    expect(gauge.used(50_000)).toBe(25_000);
  });
});

describe("refused()", () => {
  test.each([
    ["prompt is too long: 210000 tokens > 200,000 maximum", { limit: 200_000, got: 210_000 }],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages)",
      { limit: 8_192, got: 9_000 },
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      { limit: 1_048_576, got: 1_200_000 },
    ],
    [
      "the prompt for qwen3 is too long: about 40000 tokens > 32768 of its context",
      { limit: 32_768, got: 40_000 },
    ],
    ["the context window is 32768 tokens", { limit: 32_768 }],
    ["request too large", {}],
  ])("%s", (words, counts) => {
    expect(countsIn(words)).toEqual(counts);
  });

  test("learns window and ratio from the words, and a new gauge knows them", () => {
    const gauge = new Gauge(FACTS);
    gauge.refused(
      30_000,
      8_000,
      "maximum context length is 32000 tokens, your messages resulted in 45000 tokens",
    );
    expect(gauge.learned).toEqual({ window: 32_000, ratio: 1.5 });
    expect(new Gauge(FACTS, gauge.learned).used(10_000)).toBe(15_000);
  });

  test("without words: the window is smaller than known, or the estimates are too low", () => {
    const far = new Gauge(FACTS);
    far.refused(20_000, 8_000, "request too large");
    expect(far.window).toBeLessThan(22_000);
    const near = new Gauge(FACTS);
    near.refused(100_000, 8_000, "request too large");
    expect(near.window).toBe(128_000);
    expect(near.used(100_000)).toBeGreaterThan(120_000);
  });

  test("each refusal lowers what fits", () => {
    const gauge = new Gauge(FACTS);
    let before = Infinity;
    for (let i = 0; i < 5; i++) {
      gauge.refused(60_000, 8_000, "");
      const fits = gauge.window / gauge.ratio;
      expect(fits).toBeLessThan(before);
      before = fits;
    }
  });
});
