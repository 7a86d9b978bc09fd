/**
 * Decides which model answers. From the most to the least explicit: the model of the run, the agent file, CRUX_PROVIDER
 * and CRUX_MODEL, the settings, CRUX_USE_<driver>; then the first configured driver; then the built-in interpreter, which says so.
 */
import { codeOf, SyscallError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Effort, ModelCard, Thinking } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import type { ModelChoice, ModelDesk, ModelResolver } from "../../kernel/ports/models.ts";
import { type CardedDriver, cardOf, isCarded, isLong, modelId, showsImages } from "../cards.ts";
import { DRIVERS, type DriverName, isSize, mayHave, vendorsOf } from "../names.ts";
import { findOwn, type ModelSettings, withOwn } from "../own-models.ts";
import { SCRIPT_SIZES, windowFacts } from "../window.ts";
import { DriverFinder, type Probing, setUp } from "./driver-finder.ts";
import { helperOf } from "./key-helper.ts";
import { defaultId, doubtOf, envModel, surveyed } from "./survey.ts";
import { AGENT_FILE, agentWish, parseName, useWish, type Wish, wishOf, wordsOf } from "./wishes.ts";

type Env = Readonly<Record<string, string>>;
type ResolveRequest = Parameters<ModelResolver["resolve"]>[0];

/** The hint for setting up a real model. */
const configureHelp =
  "run `crux auth login`, which stores a key of Anthropic, OpenAI, Gemini or xAI, or set ANTHROPIC_API_KEY, GEMINI_API_KEY, " +
  "XAI_API_KEY or OPENAI_API_KEY (with OPENAI_BASE_URL also for Ollama, vLLM, DeepSeek), " +
  "or install the claude program: npm install -g @anthropic-ai/claude-code";

const NOTICE =
  "No model is set up: answered by the built-in interpreter, which knows a few things: " +
  "count, list, show, search and write files.";

interface ResolverOptions extends Probing {
  /** Of the folder that a process works in; undefined: the user's alone. */
  readonly settings: (
    cwd: string | undefined,
  ) => Pick<Settings, "model" | "modelType" | "requireModel" | "fallbackModel" | "micro" | "context"> &
    ModelSettings;
}

/** The decision, and its source in words. */
interface Chosen {
  readonly choice: ModelChoice;
  readonly why: string;
}

export function createModelResolver(options: ResolverOptions): ModelResolver & ModelDesk {
  const helps = (driver: DriverName): boolean => helperOf(options.settings(undefined), driver) !== undefined;
  const finder = new DriverFinder({ ...options, helps });
  const chosen = async (request: ResolveRequest, signal: AbortSignal): Promise<Chosen> => {
    const { env } = request;
    const settings = options.settings(request.cwd);
    const asked = parseName(request.model);
    if (asked.driver === "script") return { choice: scriptChoice(asked.model), why: "--model" };
    if (env.CRUX_SCENARIO && asked.driver === undefined)
      return { choice: choice("script", ""), why: "CRUX_SCENARIO" };
    const used = useWish(env);
    const wishes = [
      asked,
      agentWish(request.provider, request.preferred),
      { ...wishOf(env.CRUX_PROVIDER, env.CRUX_MODEL), source: "CRUX_MODEL" },
      { ...wishOf(settings.modelType, settings.model), source: "settings.json" },
      used.wish,
    ];
    const choosing = new Choosing(finder, wishes, request, signal);
    const found = await choosing.choose();
    if (found !== undefined) {
      const told = used.remark === undefined ? found : { remark: used.remark, ...found };
      return { choice: told, why: choosing.why };
    }
    if (settings.requireModel === true)
      throw unavailable("no model is configured, and requireModel is set", configureHelp);
    return { choice: { ...choice("interpreter", ""), notice: NOTICE }, why: "no model is set up" };
  };
  const cardFor = (driver: CardedDriver, id: string) => ownCard(cardOf(driver, id), options);
  return {
    resolve: async (request, signal) => {
      const found = await chosen(request, signal);
      const fallbacks = await new Fallbacks(finder, options, request, signal).of(found);
      const asked = { ...found.choice, ...asks(request, options.settings(request.cwd).effort) };
      return fallbacks.length === 0 ? asked : { ...asked, fallbacks };
    },
    explain: async (request, signal) => {
      const { choice, why } = await chosen(request, signal);
      const driver = choice.device.split("/").slice(3).join("/");
      const note = choice.notice ?? choice.remark;
      const model = isCarded(driver) ? defaultId(driver, choice.model, request.env) : choice.model;
      return { driver, model, why, ...(note === undefined ? {} : { note }) };
    },
    survey: (env, signal) => {
      const isSetUp = (driver: DriverName) => finder.isSetUp(driver, env, signal);
      return surveyed(isSetUp, setUp, options.settings(undefined));
    },
    classifierCard(device, model, env) {
      const driver = device.split("/")[3] ?? "";
      // the answers of a scenario are fixed, so its model may be trusted
      if (!isCarded(driver))
        return { autoMode: driver === "script", maxInputTokens: SCRIPT_SIZES.maxInputTokens };
      const { autoMode = false, maxInputTokens } = cardFor(driver, namedModel(device, model, env));
      return { autoMode, maxInputTokens };
    },
    doubt(device, model, { env, cwd }) {
      const driver = device.split("/")[3] ?? "";
      if (!isCarded(driver)) return undefined;
      return doubtOf(driver, namedModel(device, model, env), options.settings(cwd));
    },
    isModel: (device) => device.split("/")[3] !== "interpreter",
    window(device, model, { env, cwd }) {
      const driver = device.split("/")[3] ?? "";
      const settings = options.settings(cwd);
      if (driver === "script") return windowFacts(SCRIPT_SIZES, env, settings);
      if (!isCarded(driver)) return undefined;
      const card = cardFor(driver, namedModel(device, model, env));
      return windowFacts(isLong(model) && !isLocal(driver) ? { ...card, ...LONG } : card, env, settings);
    },
    supportsImages(device, model, env) {
      const driver = device.split("/")[3] ?? "";
      const id = namedModel(device, model, env);
      if (!isCarded(driver)) return false;
      return (
        findOwn(options.settings(undefined), { driver, id: modelId(driver, id) })?.images ??
        showsImages(driver, id)
      );
    },
  };
}

/** The card of a model with what the user's settings say of it. */
function ownCard(card: ModelCard, { settings }: ResolverOptions): ModelCard {
  return withOwn(card, findOwn(settings(undefined), card));
}

/** What a name with `[1m]` behind it asks for. */
const LONG = { maxInputTokens: 1_000_000 };

/** Its server says itself what its models take. */
function isLocal(driver: CardedDriver): boolean {
  return driver === "ollama" || driver === "vllm";
}

/** The model of a process, also where the environment names it. */
function namedModel(device: string, model: string, env: Env): string {
  return envModel(device.split("/")[3] ?? "", env, model) || model;
}

/** What the model is asked beside the prompt; a number is the most tokens for thinking. */
function asks({ effort, env }: ResolveRequest, setting: Effort | undefined) {
  const wanted = effort ?? setting;
  const isOff = (env.CRUX_DISABLE_THINKING ?? "") !== "";
  const thinking: Thinking =
    typeof wanted === "number" ? { mode: "budget", tokens: wanted } : { mode: "adaptive" };
  return {
    ...(isOff ? {} : { thinking }),
    ...(typeof wanted === "string" ? { effort: wanted } : {}),
  };
}

/** One decision: the first wish that names a model determines the model; a driver that has it answers. */
class Choosing {
  /** The source that decided, in words. */
  why = "";
  readonly #finder: DriverFinder;
  readonly #wishes: readonly Wish[];
  readonly #request: ResolveRequest;
  readonly #signal: AbortSignal;

  constructor(finder: DriverFinder, wishes: readonly Wish[], request: ResolveRequest, signal: AbortSignal) {
    this.#finder = finder;
    this.#wishes = wishes;
    this.#request = request;
    this.#signal = signal;
  }

  /** undefined: no driver is configured, and no specific model was requested. */
  async choose(): Promise<ModelChoice | undefined> {
    const at = this.#wishes.findIndex(({ model }) => model !== "");
    const wish = this.#wishes[at];
    if (wish === undefined) return this.#withoutName();
    this.why = wordsOf(wish);
    const driver = await this.#driverOf(wish);
    if (driver !== undefined) return choice(driver, wish.model);
    if (!wish.isFirm) return this.#instead(wish);
    if (isSize(wish.model) && wish.driver === undefined) return undefined;
    throw this.#refusal(wish);
  }

  async #withoutName(): Promise<ModelChoice | undefined> {
    for (const wish of this.#wishes) {
      const { driver, isFirm } = wish;
      if (driver === undefined) continue;
      this.why = wordsOf(wish);
      if (await this.#isSetUp(driver)) return choice(driver, "");
      if (isFirm) throw unavailable(`the model driver ${driver} is not set up`, setUp[driver]);
    }
    const driver = await this.#finder.first(this.#request.env, this.#signal);
    this.why = "the first model driver that is set up";
    return driver === undefined ? undefined : choice(driver, "");
  }

  /** If no configured driver has the agent file's model: the agent file's fallback, with a remark. */
  async #instead(wish: Wish): Promise<ModelChoice | undefined> {
    const { env, fallback = [] } = this.#request;
    for (const name of [fallback].flat()) {
      const other = agentWish(this.#request.provider, name);
      const driver = other.model === "" ? undefined : await this.#driverOf(other);
      if (driver === undefined) continue;
      this.why = "the fallback of the agent file";
      const remark = `no model driver that has ${wish.model} is set up (${owners(wish.model)}): its agent file's fallback ${other.model} answers`;
      return { ...choice(driver, other.model), remark };
    }
    if ((await this.#finder.first(env, this.#signal)) === undefined) return undefined;
    throw this.#refusal(wish);
  }

  /** The first suitable driver: the wish's own, those of the model's vendor, those of other wishes, then any. */
  async #driverOf({ driver: named, model, isFirm }: Wish): Promise<DriverName | undefined> {
    const { env } = this.#request;
    const others = [...vendorsOf(model), ...this.#wishes.flatMap(({ driver }) => driver ?? []), ...DRIVERS];
    const inTurn = named === undefined ? others : isFirm ? [named] : [named, ...others];
    for (const driver of new Set(inTurn)) {
      const isNamed = driver === named;
      if (mayHave(driver, model, isNamed, env) && (await this.#isSetUp(driver))) return driver;
    }
    return undefined;
  }

  #isSetUp(driver: DriverName): Promise<boolean> {
    return this.#finder.isSetUp(driver, this.#request.env, this.#signal);
  }

  #refusal({ driver, model, isFirm, source }: Wish): SyscallError {
    const from = source === undefined ? "" : `${source}: `;
    if (driver === undefined || !isFirm) {
      const message = `${from}no model driver that has ${model} is set up (${owners(model)})`;
      return unavailable(message, wayTo(model));
    }
    if (!mayHave(driver, model, true, this.#request.env))
      return unavailable(
        `${from}the model driver ${driver} does not have ${model} (${owners(model)})`,
        wayTo(model),
      );
    return unavailable(`${from}the model driver ${driver} is not set up`, setUp[driver]);
  }
}

/** The models that may answer in place of the chosen one: those of the flag, else of the agent file, else the setting. */
class Fallbacks {
  readonly #finder: DriverFinder;
  readonly #options: ResolverOptions;
  readonly #request: ResolveRequest;
  readonly #signal: AbortSignal;

  constructor(finder: DriverFinder, options: ResolverOptions, request: ResolveRequest, signal: AbortSignal) {
    this.#finder = finder;
    this.#options = options;
    this.#request = request;
    this.#signal = signal;
  }

  /** Errors: as of a model that is asked for, if the caller named one that cannot answer; others are left out. */
  async of({ choice, why }: Chosen): Promise<readonly ModelPlace[]> {
    if (choice.notice !== undefined) return [];
    const places: ModelPlace[] = [];
    const taken = new Set([keyOf(choice)]);
    for (const { wish, isAgents } of this.#wishes()) {
      const place = await this.#place(wish);
      if (place === undefined || taken.has(keyOf(place))) continue;
      // an agent file does not send elsewhere what the user gave to a certain driver
      if (isAgents && why !== AGENT_FILE && place.device !== choice.device) continue;
      taken.add(keyOf(place));
      places.push({ device: place.device, model: place.model });
    }
    return places;
  }

  #wishes(): readonly { readonly wish: Wish; readonly isAgents: boolean }[] {
    const { fallback = [], fallbackModels } = this.#request;
    if (fallbackModels !== undefined)
      return fallbackModels.map((name) => ({
        wish: { ...parseName(name), source: "--fallback-model" },
        isAgents: false,
      }));
    // an older journal has one name in place of a list
    const ofAgent = [fallback].flat().filter((name) => name !== "" && name !== "inherit");
    if (ofAgent.length > 0)
      return ofAgent.map((name) => ({
        wish: agentWish("", name),
        isAgents: true,
      }));
    const own = this.#options.settings(this.#request.cwd).fallbackModel ?? [];
    return own.map((name) => ({ wish: { ...parseName(name), isFirm: false }, isAgents: false }));
  }

  async #place(wish: Wish): Promise<ModelChoice | undefined> {
    if (wish.driver === "script") return scriptChoice(wish.model);
    const request = { ...this.#request, fallback: [] };
    try {
      return await new Choosing(this.#finder, [wish], request, this.#signal).choose();
    } catch (error) {
      if (wish.isFirm || codeOf(error) !== "UNAVAILABLE") throw error;
      return undefined;
    }
  }
}

/** Equal for two names of one model on one device. */
function keyOf({ device, model }: ModelPlace): string {
  const driver = device.split("/")[3] ?? "";
  return `${device} ${isCarded(driver) ? modelId(driver, model) : model}`;
}

/** The drivers that would have the model. */
function owners(model: string): string {
  const vendors = usualVendors(model);
  if (vendors.length > 0) return vendors.join(" or ");
  return isSize(model)
    ? "anthropic, openai, gemini, xai, claude, vllm or ollama"
    : "openai with OPENAI_BASE_URL, vllm or ollama";
}

/** Without the clouds: whoever has an account there knows. */
function usualVendors(model: string): readonly DriverName[] {
  return vendorsOf(model).filter((driver) => driver !== "vertex" && driver !== "bedrock");
}

function wayTo(model: string): Fact {
  return { kind: "no_model", model, ways: usualVendors(model).map((driver) => setUp[driver]) };
}

function choice(driver: DriverName, model: string): ModelChoice {
  return { device: `/dev/llm/${driver}`, model };
}

/** The choice of the script driver; `file`: a scenario file. */
function scriptChoice(file: string): ModelChoice {
  return { device: file === "" ? "/dev/llm/script" : `/dev/llm/script/${file}`, model: "" };
}

/** `step`: how to set up the driver, or the fact behind it. */
function unavailable(message: string, step: string | Fact): SyscallError {
  const next = typeof step === "string" ? { hint: step } : { fact: step };
  return new SyscallError({ code: "UNAVAILABLE", syscall: "Spawn", pid: PID_KERNEL, message, ...next });
}
