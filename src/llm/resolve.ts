/**
 * Which model answers. From the most to the least explicit: the model of the run, the agent file, CRUX_PROVIDER and
 * CRUX_MODEL, the settings; then the first driver that is set up; then a script, which says so.
 */
import { SyscallError } from "../abi/errors.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import type { Settings } from "../abi/settings.ts";
import type { ModelChoice, ModelResolver } from "../kernel/ports/models.ts";
import { nearNames } from "../lib/near-names.ts";
import { cardOf, findTier, isCarded, showsImages } from "./cards.ts";
import { findProgram } from "./claude/program.ts";
import { findOllamaOrigin, openaiProfile } from "./openai/profile.ts";

type Env = Readonly<Record<string, string>>;
type ResolveRequest = Parameters<ModelResolver["resolve"]>[0];

/** How to set up a real model, for people. */
const configureHelp =
  "set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL also for Ollama, vLLM, DeepSeek), " +
  "or install the claude program: npm install -g @anthropic-ai/claude-code";

const NOTICE = "No model is configured: a script answers, not a model.";

/** In the order in which they are looked for. */
const drivers = ["anthropic", "openai", "claude", "ollama", "script"] as const;
type DriverName = (typeof drivers)[number];

const setUp: Readonly<Record<DriverName, string>> = {
  anthropic: "Set ANTHROPIC_API_KEY.",
  openai: "Set OPENAI_API_KEY, and OPENAI_BASE_URL for another server than OpenAI's.",
  claude: "npm install -g @anthropic-ai/claude-code, then run `claude` and log in.",
  ollama: "Start Ollama with `ollama serve`, or set OLLAMA_HOST to where it runs.",
  script: "",
};

/** Ids that tell their vendor. `claude` runs the same ones as `anthropic`. */
const families: readonly { readonly pattern: RegExp; readonly drivers: readonly DriverName[] }[] = [
  { pattern: /^claude-/, drivers: ["anthropic", "claude"] },
  { pattern: /^(gpt-|chatgpt-|o\d(-|$))/, drivers: ["openai"] },
];

export interface ResolverOptions {
  readonly settings: () => Pick<Settings, "model" | "modelType" | "requireModel">;
  /** Does Ollama answer at `origin`? Asked only when nothing else is set up. */
  readonly probeOllama?: (origin: string, signal: AbortSignal) => Promise<boolean>;
  /** Milliseconds; for the age of a probe. */
  readonly now?: () => number;
}

/** What one source says. `isFirm`: to be refused rather than passed over when its driver is not set up. */
interface Wish {
  readonly driver: DriverName | undefined;
  readonly model: string;
  readonly isFirm: boolean;
}

export function createModelResolver(options: ResolverOptions): ModelResolver {
  const finder = new DriverFinder(options);
  return {
    async resolve(request, signal) {
      const { env } = request;
      const settings = options.settings();
      const asked = parseName(request.model);
      if (asked.driver === "script") return scriptChoice(asked.model);
      if (env.CRUX_SCENARIO && asked.driver === undefined) return choice("script", asked.model);
      const wishes = [asked, agentWish(request), wishOf(env.CRUX_PROVIDER, env.CRUX_MODEL)];
      wishes.push(wishOf(settings.modelType, settings.model));
      const driver = (await finder.granted(wishes, env, signal)) ?? (await finder.first(env, signal));
      if (driver !== undefined) return choice(driver, wishes.find((wish) => fits(wish, driver))?.model ?? "");
      if (settings.requireModel === true)
        throw unavailable("no model is configured, and requireModel is set", configureHelp);
      return { ...choice("script", asked.model), notice: NOTICE };
    },
    classifierCard(device, model, env) {
      const driver = device.split("/")[3] ?? "";
      // a scenario says what its model answers: there is nothing to mistrust
      if (!isCarded(driver)) return { autoMode: driver === "script", maxInputTokens: SCRIPT_TOKENS };
      const id = model === "" && driver === "openai" ? openaiProfile(env).model : model;
      const { autoMode = false, maxInputTokens } = cardOf(driver, id);
      return { autoMode, maxInputTokens };
    },
    supportsImages(device, model, env) {
      const driver = device.split("/")[3] ?? "";
      return showsImages(driver, model === "" && driver === "openai" ? openaiProfile(env).model : model);
    },
  };
}

/** A shipped agent cannot know what its user has: its provider is a wish, and `inherit` is none. */
function agentWish({ provider, preferred }: ResolveRequest): Wish {
  const name = preferred === "inherit" ? "" : preferred;
  const slash = name.indexOf("/");
  const named = slash < 0 ? undefined : findDriver(name.slice(0, slash));
  const driver = named ?? (provider === "" ? undefined : findDriver(provider));
  return { driver, model: named === undefined ? name : name.slice(slash + 1), isFirm: false };
}

function wishOf(provider: string | undefined, name: string | undefined): Wish {
  const wish = parseName(name ?? "");
  if (wish.driver !== undefined || !provider) return wish;
  const driver = findDriver(provider);
  if (driver === undefined) throw unknownDriver(provider, "");
  return { ...wish, driver };
}

/** A tier fits every driver; an id fits the driver it came with, else only one that its name does not speak against. */
function fits({ driver: named, model }: Wish, driver: DriverName): boolean {
  if (model === "") return false;
  if (named === driver || findTier(model) !== undefined) return true;
  const family = families.find(({ pattern }) => pattern.test(model));
  return family === undefined ? named === undefined : family.drivers.includes(driver);
}

class DriverFinder {
  readonly #options: ResolverOptions;
  #probe: { readonly origin: string; readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /** The driver of the first wish that names one, or a model that tells its vendor, and can be had. */
  async granted(wishes: readonly Wish[], env: Env, signal: AbortSignal): Promise<DriverName | undefined> {
    for (const { driver, model, isFirm } of wishes) {
      const family = families.find(({ pattern }) => pattern.test(model));
      const candidates = driver === undefined ? (family?.drivers ?? []) : [driver];
      for (const name of candidates) if (await this.isSetUp(name, env, signal)) return name;
      const [wanted] = candidates;
      if (wanted !== undefined && isFirm)
        throw unavailable(`the model driver ${wanted} is not set up`, setUp[wanted]);
    }
    return undefined;
  }

  /** A script is never found: it is what remains. */
  async first(env: Env, signal: AbortSignal): Promise<DriverName | undefined> {
    for (const name of drivers) if (name !== "script" && (await this.isSetUp(name, env, signal))) return name;
    return undefined;
  }

  async isSetUp(name: DriverName, env: Env, signal: AbortSignal): Promise<boolean> {
    switch (name) {
      case "anthropic":
        return Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN);
      case "openai":
        return Boolean(env.OPENAI_API_KEY);
      case "claude":
        return findProgram("claude", env) !== undefined;
      case "ollama":
        return this.#ollamaAnswers(env, signal);
      case "script":
        return true;
    }
  }

  /** One probe serves all for a while, so its own end is not tied to who asked first. */
  #ollamaAnswers(env: Env, signal: AbortSignal): Promise<boolean> {
    const { probeOllama = probe, now = () => performance.now() } = this.#options;
    const origin = findOllamaOrigin(env.OLLAMA_HOST);
    if (origin === undefined) return Promise.resolve(false);
    signal.throwIfAborted();
    const last = this.#probe;
    if (last !== undefined && last.origin === origin && now() - last.at < PROBE_KEPT_MS) return last.answer;
    const answer = probeOllama(origin, AbortSignal.timeout(PROBE_MS));
    this.#probe = { origin, at: now(), answer };
    return answer;
  }
}

const SCRIPT_TOKENS = 1_000_000;
const PROBE_MS = 300;
const PROBE_KEPT_MS = 10_000;

async function probe(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/api/version`, { signal, redirect: "manual" });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** `[<driver>/]<id or tier>`. Ids may hold slashes themselves: then the driver must stand before them. */
function parseName(name: string): Wish {
  const slash = name.indexOf("/");
  if (slash < 0) return { driver: undefined, model: name, isFirm: true };
  const driver = findDriver(name.slice(0, slash));
  if (driver === undefined) throw unknownDriver(name.slice(0, slash), name);
  return { driver, model: name.slice(slash + 1), isFirm: true };
}

function findDriver(name: string): DriverName | undefined {
  return drivers.find((driver) => driver === name.toLowerCase());
}

function choice(driver: DriverName, model: string): ModelChoice {
  return { device: `/dev/llm/${driver}`, model };
}

/** What follows is a scenario file. */
function scriptChoice(file: string): ModelChoice {
  return { device: file === "" ? "/dev/llm/script" : `/dev/llm/script/${file}`, model: "" };
}

function unknownDriver(name: string, whole: string): SyscallError {
  const near = nearNames(name.toLowerCase(), drivers, (driver) => Math.ceil(driver.length / 3));
  const similar = near.length === 0 ? `Drivers: ${drivers.join(", ")}` : `Similar: ${near.join(", ")}`;
  return new SyscallError({
    code: "NOT_FOUND",
    syscall: "Spawn",
    pid: PID_KERNEL,
    message: `model driver not found: ${name}. ${similar}`,
    hint:
      whole === "" ? undefined : `A model whose name has a slash is written with its driver: openai/${whole}`,
  });
}

function unavailable(message: string, hint: string): SyscallError {
  return new SyscallError({ code: "UNAVAILABLE", syscall: "Spawn", pid: PID_KERNEL, message, hint });
}
