import { describe, expect, it } from "vitest";
import { Settings } from "../abi/settings/settings.ts";
import { cacheTtlOf, wantedTtl } from "./cache-ttl.ts";
import { cardOf } from "./cards.ts";
import { findOwn, ownPrice, withOwn } from "./own-models.ts";

describe("withOwn()", () => {
  it("replaces what the longest fitting entry names, and keeps the rest", () => {
    const settings = Settings.parse({
      models: {
        my: { maxInputTokens: 5_000 },
        "my-model": { thinking: "budget", effort: ["low"], images: true },
      },
    });
    const card = cardOf("openai", "my-model-7");
    const own = withOwn(card, findOwn(settings, card));
    expect(own).toEqual({
      ...card,
      supports: { ...card.supports, thinking: "budget", effort: ["low"], images: true },
    });
    expect(withOwn(card, findOwn(settings, { driver: "openai", id: "my-other" }))).toEqual({
      ...card,
      maxInputTokens: 5_000,
    });
    expect(findOwn(settings, { driver: "openai", id: "another" })).toBeUndefined();
  });
});

describe("findOwn()", () => {
  it("gives all of Ollama's models the context that is set, unless an entry has its own", () => {
    const settings = Settings.parse({
      ollama: { numCtx: 9_000 },
      models: { wide: { maxInputTokens: 50_000 } },
    });
    const windowOf = (driver: "ollama" | "openai", id: string) =>
      withOwn(cardOf(driver, id), findOwn(settings, { driver, id })).maxInputTokens;
    expect([windowOf("ollama", "qwen3"), windowOf("ollama", "wide"), windowOf("openai", "qwen3")]).toEqual([
      9_000, 50_000, 128_000,
    ]);
  });
});

describe("ownPrice()", () => {
  it("takes `prices` before the prices of `models`", () => {
    const one = { input: 1, output: 2 };
    const settings = { prices: { my: one }, models: { "my-model": { price: { input: 3, output: 4 } } } };
    expect(ownPrice(settings, "my-model")).toMatchObject(one);
    expect(ownPrice({ ...settings, prices: {} }, "my-model")).toMatchObject({ input: 3 });
    expect(ownPrice(settings, "a")).toBeUndefined();
  });
});

describe("the settings of models", () => {
  it.each([
    [{ models: { m: { maxInputTokens: 10 } } }, ["models", "m", "maxInputTokens"]],
    [{ models: { m: { maxInputTokns: 9_000 } } }, ["models", "m"]],
    [{ models: { m: { effort: ["much"] } } }, ["models", "m", "effort", 0]],
    [{ prices: { m: { input: -1, output: 1 } } }, ["prices", "m", "input"]],
    [{ prices: { m: { input: 1 } } }, ["prices", "m", "output"]],
    [{ effort: "much" }, ["effort"]],
  ])("refuse %j, naming the entry", (settings, path) => {
    expect(Settings.safeParse(settings).error?.issues[0]?.path).toEqual(path);
  });
});

describe("cacheTtlOf()", () => {
  const opus = cardOf("anthropic", "opus");

  it("is an hour by the setting or the variable, and off by the variables, also for one family", () => {
    expect(cacheTtlOf(opus, {}, undefined)).toBe("5m");
    expect(cacheTtlOf(opus, {}, "1h")).toBe("1h");
    expect(cacheTtlOf(opus, { CRUX_PROMPT_CACHE_1H: "1" }, undefined)).toBe("1h");
    expect(cacheTtlOf(opus, { CRUX_DISABLE_PROMPT_CACHING: "1" }, "1h")).toBe("off");
    expect(cacheTtlOf(opus, { CRUX_DISABLE_PROMPT_CACHING_OPUS: "1" }, undefined)).toBe("off");
    expect(cacheTtlOf(opus, { CRUX_DISABLE_PROMPT_CACHING_HAIKU: "1" }, undefined)).toBe("5m");
    expect(cacheTtlOf(opus, { CRUX_DISABLE_PROMPT_CACHING: "0" }, undefined)).toBe("5m");
  });

  it("is an hour for the sources that the settings name", () => {
    const promptCache = { longTtlSources: ["main:reviewer", "compact:*"] };
    const settings = { cacheTtl: "5m" as const, promptCache };
    const ttl = (purpose: "main" | "compact" | "helper", agent: string) =>
      wantedTtl(settings, { purpose }, agent);
    expect([ttl("main", "reviewer"), ttl("compact", "other"), ttl("compact", "")]).toEqual([
      "1h",
      "1h",
      "1h",
    ]);
    expect([ttl("main", "reviewer-2"), ttl("main", ""), ttl("helper", "reviewer")]).toEqual([
      "5m",
      "5m",
      "5m",
    ]);
    expect(wantedTtl({}, { purpose: "main" }, "reviewer")).toBeUndefined();
  });

  it("is off where the server is told nothing", () => {
    expect(cacheTtlOf(cardOf("openai", "gpt-5"), {}, "1h")).toBe("off");
    expect(cacheTtlOf(cardOf("ollama", "llama"), {}, undefined)).toBe("off");
  });
});
