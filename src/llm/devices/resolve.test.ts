import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Effort } from "../../abi/llm.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import { createModelResolver } from "./resolve.ts";

const none = new AbortController().signal;
const anthropic = { ANTHROPIC_API_KEY: "k" };
const openai = { OPENAI_API_KEY: "k" };
const xai = { XAI_API_KEY: "k" };
const gemini = { GEMINI_API_KEY: "k" };
const own = { ...openai, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
let claude: { PATH: string };

beforeAll(() => {
  claude = { PATH: mkdtempSync(join(tmpdir(), "crux-path-")) };
  writeFileSync(join(claude.PATH, "claude"), "#!/bin/sh\n", { mode: 0o755 });
});
afterAll(() => rmSync(claude.PATH, { recursive: true }));

interface Case {
  readonly model?: string;
  readonly provider?: string;
  readonly preferred?: string;
  readonly fallback?: readonly string[];
  readonly env?: Record<string, string>;
  readonly settings?: Partial<Settings>;
  readonly ollama?: boolean;
}

async function resolve({
  model = "",
  provider = "",
  preferred = "",
  fallback = [],
  env = {},
  settings = {},
  ollama = false,
}: Case) {
  const resolver = createModelResolver({ settings: () => settings, probeOllama: async () => ollama });
  const {
    device,
    model: chosen,
    notice,
    remark,
  } = await resolver.resolve({ model, provider, preferred, fallback, env }, none);
  return [device.replace("/dev/llm/", ""), chosen, ...[notice, remark].filter((said) => said !== undefined)];
}

describe("resolve()", () => {
  it("takes the first that is set up: anthropic, openai, gemini, xai, claude, vllm, ollama", async () => {
    expect(await resolve({ env: { ...anthropic, ...openai, ...claude }, ollama: true })).toEqual([
      "anthropic",
      "",
    ]);
    expect(await resolve({ env: { ANTHROPIC_AUTH_TOKEN: "t" } })).toEqual(["anthropic", ""]);
    expect(await resolve({ env: { ...openai, ...claude }, ollama: true })).toEqual(["openai", ""]);
    expect(await resolve({ env: { ...xai, ...gemini } })).toEqual(["gemini", ""]);
    expect(await resolve({ env: { ...xai, ...claude } })).toEqual(["xai", ""]);
    expect(await resolve({ env: claude, ollama: true })).toEqual(["claude", ""]);
    expect(await resolve({ env: { VLLM_BASE_URL: "http://box:8000/v1" }, ollama: true })).toEqual([
      "vllm",
      "",
    ]);
    expect(await resolve({ ollama: true })).toEqual(["ollama", ""]);
  });

  it("takes the models of both vendors to Google Cloud, where it alone is set up", async () => {
    const env = { ...openai, ANTHROPIC_VERTEX_PROJECT_ID: "p" };
    expect(await resolve({ env, model: "sonnet" })).toEqual(["vertex", "sonnet"]);
    expect(await resolve({ env, model: "gemini-x" })).toEqual(["vertex", "gemini-x"]);
    expect(await resolve({ env: { ...env, ...anthropic }, model: "claude-x" })).toEqual([
      "anthropic",
      "claude-x",
    ]);
  });

  it("takes GOOGLE_API_KEY, which may be for maps, only for a model that is asked for", async () => {
    const env = { ...claude, GOOGLE_API_KEY: "k" };
    expect(await resolve({ env })).toEqual(["claude", ""]);
    expect(await resolve({ env, model: "gemini-x" })).toEqual(["gemini", "gemini-x"]);
  });

  it("takes AWS's keys, which are for much else, only for a model that is asked for at bedrock", async () => {
    const env = { ...claude, AWS_ACCESS_KEY_ID: "k" };
    expect(await resolve({ env })).toEqual(["claude", ""]);
    expect(await resolve({ env, model: "large" })).toEqual(["claude", "large"]);
    expect(await resolve({ env, model: "bedrock/sonnet" })).toEqual(["bedrock", "sonnet"]);
    const id = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
    expect(await resolve({ env, model: id })).toEqual(["bedrock", id]);
    expect(await resolve({ env: { AWS_BEARER_TOKEN_BEDROCK: "k" } })).toEqual(["bedrock", ""]);
  });

  it("falls back to the built-in interpreter, which says so", async () => {
    expect(await resolve({})).toEqual([
      "interpreter",
      "",
      expect.stringMatching(/^No model is set up: answered by the built-in interpreter, /),
    ]);
  });

  it("requireModel refuses the interpreter, and tells how to configure a model", async () => {
    await expect(resolve({ settings: { requireModel: true } })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  it("takes the driver that the model names", async () => {
    expect(await resolve({ model: "openai/gpt-x", env: { ...anthropic, ...openai } })).toEqual([
      "openai",
      "gpt-x",
    ]);
    expect(await resolve({ model: "openai/org/name", env: openai })).toEqual(["openai", "org/name"]);
    expect(await resolve({ model: "script/a/b.yaml", env: anthropic })).toEqual(["script/a/b.yaml", ""]);
  });

  it("takes a bare name to its vendor, else to the first that is set up", async () => {
    expect(await resolve({ model: "gpt-x", env: { ...anthropic, ...openai } })).toEqual(["openai", "gpt-x"]);
    expect(await resolve({ model: "claude-x", env: { ...openai, ...claude } })).toEqual([
      "claude",
      "claude-x",
    ]);
    expect(await resolve({ model: "grok-4.7", env: { ...openai, ...xai } })).toEqual(["xai", "grok-4.7"]);
    expect(await resolve({ model: "grok/large", env: { ...openai, ...xai } })).toEqual(["xai", "large"]);
    expect(await resolve({ model: "llama", env: own })).toEqual(["openai", "llama"]);
    expect(await resolve({ model: "llama", env: openai, ollama: true })).toEqual(["ollama", "llama"]);
    expect(await resolve({ model: "mid", env: openai })).toEqual(["openai", "mid"]);
    expect(await resolve({ model: "Opus", env: { ...openai, ...claude } })).toEqual(["claude", "opus"]);
    expect(await resolve({ model: "opus", env: { ...anthropic, CRUX_PROVIDER: "openai" } })).toEqual([
      "anthropic",
      "opus",
    ]);
  });

  it.each([
    ["opus", openai, "(anthropic or claude)"],
    ["opus", own, "(anthropic or claude)"],
    ["Sonnet", {}, "(anthropic or claude)"],
    ["claude-opus-5-5", openai, "(anthropic or claude)"],
    ["gpt-x", anthropic, "(openai)"],
    ["o3", anthropic, "(openai)"],
    ["gemini-x", { ...anthropic, ...openai }, "(gemini)"],
    ["mistral-x", { ...anthropic, ...openai }, "(openai with OPENAI_BASE_URL, vllm or ollama)"],
    ["llama", {}, "(openai with OPENAI_BASE_URL, vllm or ollama)"],
  ])("refuses %s where no driver that is set up has it, by name", async (model, env, who) => {
    const named = model === "Sonnet" ? "sonnet" : model;
    await expect(resolve({ model, env })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: `no model driver that has ${named} is set up ${who}`,
      fact: { kind: "no_model", model: named, ways: expect.any(Array) },
    });
    const of = { CRUX_MODEL: model, ...env };
    await expect(resolve({ env: of })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(resolve({ env, settings: { model } })).rejects.toMatchObject({
      message: `settings.json: no model driver that has ${named} is set up ${who}`,
    });
  });

  it.each([
    ["openai/opus", own],
    ["openai/claude-x", openai],
    ["ollama/haiku", {}],
    ["anthropic/gpt-x", anthropic],
    ["claude/llama", {}],
  ])("refuses %s: it is another vendor's", async (model, env) => {
    await expect(resolve({ model, env: { ...env, ...claude }, ollama: true })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(` does not have ${model.split("/")[1]} (`),
    });
  });

  it("leaves what a server of one's own has to that server", async () => {
    expect(await resolve({ model: "openai/claude-x", env: own })).toEqual(["openai", "claude-x"]);
    expect(await resolve({ model: "ollama/gpt-x", ollama: true })).toEqual(["ollama", "gpt-x"]);
    expect(await resolve({ model: "openai/llama", env: openai })).toEqual(["openai", "llama"]);
    const elsewhere = { ...anthropic, ANTHROPIC_BASE_URL: "https://models.test" };
    expect(await resolve({ model: "glm-x", env: elsewhere })).toEqual(["anthropic", "glm-x"]);
  });

  it("refuses a driver that was asked for and is not set up, saying how to set it up", async () => {
    await expect(resolve({ model: "openai/x", env: anthropic })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("OPENAI_API_KEY"),
    });
    await expect(resolve({ model: "claude-x", env: openai })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(resolve({ env: { CRUX_PROVIDER: "ollama" } })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  it("takes an agent file's provider as a wish", async () => {
    const wish = { provider: "claude", preferred: "haiku" };
    expect(await resolve({ ...wish, env: { ...anthropic, ...claude } })).toEqual(["claude", "haiku"]);
    expect(await resolve({ ...wish, env: anthropic })).toEqual(["anthropic", "haiku"]);
    expect(await resolve({ provider: "claude", env: openai })).toEqual(["openai", ""]);
    await expect(resolve({ provider: "claude", preferred: "claude-x", env: openai })).rejects.toMatchObject({
      message: "the agent file: no model driver that has claude-x is set up (anthropic or claude)",
    });
    expect(await resolve({ provider: "unheard", preferred: "inherit", env: openai })).toEqual(["openai", ""]);
    expect((await resolve({ ...wish, env: {} }))[0]).toBe("interpreter");
  });

  it("takes an agent file's fallback and says so, unless nobody has that either", async () => {
    const wish = { provider: "claude", preferred: "sonnet" };
    expect(await resolve({ ...wish, fallback: ["mid"], env: openai })).toEqual([
      "openai",
      "mid",
      "no model driver that has sonnet is set up (anthropic or claude): its agent file's fallback mid answers",
    ]);
    expect(await resolve({ ...wish, fallback: ["mid"], env: anthropic })).toEqual(["anthropic", "sonnet"]);
    await expect(resolve({ ...wish, fallback: ["haiku"], env: openai })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  it("lets each source beat those below it", async () => {
    const settings = { modelType: "anthropic", model: "large" };
    const env = { ...anthropic, ...openai };
    expect(await resolve({ env, settings })).toEqual(["anthropic", "large"]);
    expect(await resolve({ env: { ...env, CRUX_PROVIDER: "openai", CRUX_MODEL: "mid" }, settings })).toEqual([
      "openai",
      "mid",
    ]);
    const agent = { provider: "anthropic", preferred: "small" };
    expect(await resolve({ ...agent, env: { ...env, CRUX_PROVIDER: "openai" }, settings })).toEqual([
      "anthropic",
      "small",
    ]);
    expect(await resolve({ model: "openai/x", ...agent, env, settings })).toEqual(["openai", "x"]);
  });

  it("takes the driver of CRUX_USE_<driver> before the first that is set up, and names those that do not count", async () => {
    const env = { ...anthropic, ...openai, ...gemini, ...xai };
    expect(await resolve({ env: { ...env, CRUX_USE_GROK: "1", CRUX_USE_OPENAI: "0" } })).toEqual(["xai", ""]);
    const two = { ...env, CRUX_USE_GROK: "1", CRUX_USE_OPENAI: "1" };
    const remark = "CRUX_USE_OPENAI counts, and CRUX_USE_GROK does not: one driver answers";
    expect(await resolve({ env: two })).toEqual(["openai", "", remark]);
    const one = { ...env, CRUX_USE_GROK: "1" };
    expect(await resolve({ env: { ...one, CRUX_PROVIDER: "gemini" } })).toEqual(["gemini", ""]);
    expect(await resolve({ env: one, settings: { modelType: "openai" } })).toEqual(["openai", ""]);
    expect(await resolve({ env: { CRUX_USE_GROK: "1", ...openai } }).catch(({ message }) => message)).toBe(
      "the model driver xai is not set up",
    );
  });

  it("CRUX_SCENARIO means the script, without a notice, unless a driver was asked for", async () => {
    const env = { ...openai, CRUX_SCENARIO: "/x.yaml" };
    expect(await resolve({ env, provider: "openai" })).toEqual(["script", ""]);
    expect(await resolve({ env, model: "openai/x" })).toEqual(["openai", "x"]);
  });

  it.each(["Inherit", "INHERIT"])("refuses %s, which is neither a model nor inherit", async (name) => {
    const refused = { code: "INVALID", message: `no model is called ${name} (did you mean inherit?)` };
    for (const wish of [{ model: name }, { preferred: name }, { provider: "openai", preferred: name }])
      await expect(resolve({ ...wish, env: openai })).rejects.toMatchObject(refused);
    await expect(resolve({ model: `openai/${name}`, env: openai })).rejects.toMatchObject(refused);
  });

  it("refuses an unknown driver with names that are near", async () => {
    await expect(resolve({ model: "antropic/x" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "model driver not found: antropic. Similar: anthropic",
    });
    await expect(resolve({ env: { CRUX_PROVIDER: "zzz" } })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("asks for Ollama only when nothing else is set up, and not again within 10 s", async () => {
    let probes = 0;
    let now = 0;
    const resolver = createModelResolver({
      settings: () => ({}),
      now: () => now,
      probeOllama: async () => {
        probes++;
        return true;
      },
    });
    const ask = (env: Record<string, string>) =>
      resolver.resolve({ model: "", provider: "", preferred: "", env }, none);
    await ask(anthropic);
    expect(probes).toBe(0);
    await ask({});
    now = 9_999;
    await ask({});
    expect(probes).toBe(1);
    now = 10_000;
    await ask({});
    expect(probes).toBe(2);
  });
});

describe("the fallback models of resolve()", () => {
  const both = { ...anthropic, ...openai };
  const fallbacksOf = async (
    request: { fallbackModels?: string[]; fallback?: string[]; model?: string; preferred?: string },
    { env = both, settings = {} }: Pick<Case, "env" | "settings"> = {},
  ) => {
    const resolver = createModelResolver({ settings: () => settings, probeOllama: async () => false });
    const wish = { model: "", provider: "", preferred: "", ...request, env };
    const { fallbacks = [] } = await resolver.resolve(wish, none);
    return fallbacks.map(({ device, model }) => `${device.replace("/dev/llm/", "")} ${model}`);
  };

  it("are those of the flag, else of the agent file, else of the setting", async () => {
    const settings = { fallbackModel: ["small"] };
    const all = { model: "opus", fallbackModels: ["openai/mid", "sonnet"], fallback: ["haiku"] };
    expect(await fallbacksOf(all, { settings })).toEqual(["openai mid", "anthropic sonnet"]);
    expect(await fallbacksOf({ model: "opus", fallback: ["haiku"] }, { settings })).toEqual([
      "anthropic haiku",
    ]);
    expect(await fallbacksOf({ model: "opus" }, { settings })).toEqual(["anthropic small"]);
    expect(await fallbacksOf({ model: "opus" })).toEqual([]);
  });

  it("leave out the model itself under another name, and a second of the same", async () => {
    const fallbackModels = ["mid", "haiku", "small"];
    expect(await fallbacksOf({ model: "sonnet", fallbackModels })).toEqual(["anthropic haiku"]);
  });

  it("of an agent file go to another driver only where its own model answers", async () => {
    const file = { preferred: "opus", fallback: ["gpt-6-luna"] };
    expect(await fallbacksOf(file)).toEqual(["openai gpt-6-luna"]);
    expect(await fallbacksOf({ ...file, model: "haiku" })).toEqual([]);
  });

  it("that cannot answer are refused if the flag names them, and left out otherwise", async () => {
    const only = { env: anthropic };
    await expect(fallbacksOf({ fallbackModels: ["gpt-6-luna"] }, only)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("--fallback-model"),
    });
    await expect(fallbacksOf({ fallbackModels: ["opnai/x"] }, only)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await fallbacksOf({ fallback: ["gpt-6-luna"] }, only)).toEqual([]);
    const settings = { fallbackModel: ["gpt-6-luna"] };
    expect(await fallbacksOf({}, { ...only, settings })).toEqual([]);
  });

  it("do not exist where no model is set up", async () => {
    expect(await fallbacksOf({ fallback: ["mid"] }, { env: {} })).toEqual([]);
  });
});

describe("explain()", () => {
  const explain = async ({ env = {}, settings = {}, ...wish }: Case) => {
    const resolver = createModelResolver({ settings: () => settings, probeOllama: async () => false });
    const request = { model: "", provider: "", preferred: "", fallback: [], ...wish, env };
    const { driver, model, why } = await resolver.explain(request, none);
    return [driver, model, why];
  };

  it.each<[Case, string[]]>([
    [{ model: "opus", env: anthropic }, ["anthropic", "claude-opus-5-5", "--model"]],
    [{ preferred: "haiku", env: anthropic }, ["anthropic", "claude-haiku-5-5", "the agent file"]],
    [{ env: { ...anthropic, CRUX_MODEL: "haiku" } }, ["anthropic", "claude-haiku-5-5", "CRUX_MODEL"]],
    [{ env: { ...openai, CRUX_PROVIDER: "openai" } }, ["openai", "gpt-6.1-terra", "CRUX_PROVIDER"]],
    [
      { env: anthropic, settings: { model: "opus" } },
      ["anthropic", "claude-opus-5-5", "settings.json (model)"],
    ],
    [{ env: { ...own, OPENAI_MODEL: "q" } }, ["openai", "q", "the first model driver that is set up"]],
    [{}, ["interpreter", "", "no model is set up"]],
    [{ model: "script/a.json" }, ["script/a.json", "", "--model"]],
  ])("of %j is %j", async (wish, answer) => {
    expect(await explain(wish)).toEqual(answer);
  });

  it("is refused as the run would be", async () => {
    await expect(explain({ model: "openai/gpt-5", env: anthropic })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });
});

describe("what the model is asked beside the prompt", () => {
  const asked = async (
    effort: Effort | number | undefined,
    settings: { effort?: Effort } = {},
    env: Record<string, string> = {},
  ) => {
    const resolver = createModelResolver({ settings: () => settings, probeOllama: async () => false });
    const wish = { model: "", provider: "", preferred: "", env: { ...anthropic, ...env } };
    const found = await resolver.resolve({ ...wish, ...(effort === undefined ? {} : { effort }) }, none);
    return { thinking: found.thinking, effort: found.effort };
  };
  const adaptive = { mode: "adaptive" };

  it("is to think, with the effort of the caller, else of the settings, else none", async () => {
    expect(await asked("low", { effort: "max" })).toEqual({ thinking: adaptive, effort: "low" });
    expect(await asked(undefined, { effort: "max" })).toEqual({ thinking: adaptive, effort: "max" });
    expect(await asked(undefined)).toEqual({ thinking: adaptive, effort: undefined });
    expect(await asked(4_096)).toEqual({ thinking: { mode: "budget", tokens: 4_096 }, effort: undefined });
  });

  it("is not to think with CRUX_DISABLE_THINKING", async () => {
    const off = { CRUX_DISABLE_THINKING: "1" };
    expect(await asked("low", {}, off)).toEqual({ thinking: undefined, effort: "low" });
  });
});

describe("survey()", () => {
  it("lists drivers with what would set them up, and models with the prices of the settings first", async () => {
    const models = { "claude-opus": { price: { input: 7, output: 8 } } };
    const resolver = createModelResolver({ settings: () => ({ models }), probeOllama: async () => false });
    const found = await resolver.survey(anthropic, none);
    const state = Object.fromEntries(found.drivers.map(({ name, isReady }) => [name, isReady]));
    expect(state).toMatchObject({ anthropic: true, openai: false, ollama: false, interpreter: true });
    expect(found.drivers.find(({ name }) => name === "openai")?.remedy).toContain("OPENAI_API_KEY");
    const row = (id: string) => found.models.find((each) => each.id === id);
    expect(row("claude-opus-5-5")).toMatchObject({
      short: "opus",
      context: 1_000_000,
      price: { input: 7, output: 8 },
      isReady: true,
    });
    expect(row("gpt-6-luna")).toMatchObject({
      driver: "openai",
      short: "small",
      price: null,
      isReady: false,
    });
    expect(row("sonnet")).toMatchObject({ driver: "claude", price: null });
  });
});

describe("a name with [1m] behind it", () => {
  const resolver = createModelResolver({ settings: () => ({}), probeOllama: async () => false });
  const windowOf = (driver: string, model: string, env: Record<string, string> = {}) =>
    resolver.window?.(`/dev/llm/${driver}`, model, { env })?.window;

  it("is answered by the same driver, with a window of a million tokens; a variable counts before it", async () => {
    expect(await resolve({ model: "sonnet[1m]", env: anthropic })).toEqual(["anthropic", "sonnet[1m]"]);
    expect(await resolve({ model: "sonnet[1m]", env: { ...openai, ...anthropic } })).toEqual([
      "anthropic",
      "sonnet[1m]",
    ]);
    expect(windowOf("anthropic", "claude-haiku-4-5[1m]")).toBe(1_000_000);
    expect(windowOf("anthropic", "claude-haiku-4-5")).toBe(200_000);
    expect(windowOf("anthropic", "haiku[1m]", { CRUX_MAX_CONTEXT_TOKENS: "50000" })).toBe(50_000);
  });

  it("is the model of that name to a server that says itself what its models take", () => {
    expect(windowOf("ollama", "qwen3[1m]")).toBe(windowOf("ollama", "qwen3"));
  });
});

describe("doubt()", () => {
  const doubt = (driver: string, model: string, settings: Partial<Settings> = {}) =>
    createModelResolver({ settings: () => settings, probeOllama: async () => false }).doubt?.(
      `/dev/llm/${driver}`,
      model,
      { env: {} },
    );

  it("names the near ones of a model that no table has, and what happens then", () => {
    expect(doubt("anthropic", "claude-sonet-5-5")).toBe(
      "no table has claude-sonet-5-5 (near: claude-sonnet-5-5, claude-sonnet-4-5, claude-sonnet-4-0): where its server does not have it either, the next call fails",
    );
    expect(doubt("openai", "zzz")).toContain("crux model list");
  });

  it.each([
    ["gemini", "gemini-9", "(near: gemini-4-carbon, gemini-4-hydrogen, gemini-3.8-flash)"],
    ["gemini", "gemini-2.5-flsh", "(near: gemini-2.5-flash, "],
    ["openai", "gpt-9", "(near: gpt-6.1-sol, gpt-6.1-terra, gpt-6-luna)"],
    ["vertex", "gemini-9", "(near: gemini-"],
  ])("names those of its family where none is close: %s/%s", (driver, model, near) => {
    expect(doubt(driver, model)).toContain(near);
  });

  it("has none of sizes, dated and own names, nor of servers that have models of any name", () => {
    const models = { "my-model": { price: { input: 1, output: 2 } } };
    for (const [driver, model] of [
      ...["", "sonnet", "large", "opus[1m]", "claude-sonnet-5-5", "claude-sonnet-5-5-20260101"].map(
        (name) => ["anthropic", name] as const,
      ),
      ...([
        ["claude", "opus"],
        ["ollama", "any"],
        ["vllm", "any"],
        ["script", "a.json"],
      ] as const),
      ["bedrock", "us.anthropic.claude-sonnet-5-5-v1:0"] as const,
    ])
      expect(doubt(driver, model)).toBeUndefined();
    expect(doubt("openai", "my-model", { models })).toBeUndefined();
  });
});
