/** Lists the choices for the user: the drivers, whether they are configured, and the known models. */
import type { DriverView, ModelView } from "../../kernel/ports/models.ts";
import { type CardedDriver, knownModels, modelId, nearModels } from "../cards.ts";
import { namedByEnv } from "../gemini/env.ts";
import { findRow } from "../model-table.ts";
import { DRIVERS, type DriverName } from "../names.ts";
import { findOwn, type ModelSettings, ownPrice, withOwn } from "../own-models.ts";

type Env = Readonly<Record<string, string>>;

/** The model id sent to a driver; "": its server decides. */
export function defaultId(driver: CardedDriver, model: string, env: Env): string {
  return envModel(driver, env, model) || modelId(driver, model);
}

/** The model that the environment names for a driver, in place of no name or of a size; "": none. */
export function envModel(driver: string, env: Env, model: string): string {
  if (driver === "gemini") return namedByEnv(env, model);
  if (model !== "") return "";
  const named = new Map([
    ["openai", env.OPENAI_MODEL],
    ["vllm", env.VLLM_MODEL],
    ["ollama", env.OLLAMA_MODEL],
  ]);
  return named.get(driver) ?? "";
}

/** What to say of a model that the user asks for and no table has; undefined: one has it, or only its own server knows. */
export function doubtOf(driver: CardedDriver, model: string, settings: ModelSettings): string | undefined {
  const id = modelId(driver, model);
  if (driver === "ollama" || driver === "vllm" || id === "") return undefined;
  const isKnown = knownModels().some((known) => known.driver === driver && known.id === id);
  if (isKnown || findRow(id) !== undefined || findOwn(settings, { driver, id }) !== undefined)
    return undefined;
  const near = nearModels(driver, id);
  const names = near.length === 0 ? "crux model list has those that are known" : `near: ${near.join(", ")}`;
  return `no table has ${id} (${names}): where its server does not have it either, the next call fails`;
}

/** Prices come from the settings, else as published. `remedies`: how to configure each driver. */
export async function surveyed(
  isSetUp: (driver: DriverName) => Promise<boolean>,
  remedies: Readonly<Record<DriverName, string>>,
  settings: ModelSettings,
): Promise<{ drivers: readonly DriverView[]; models: readonly ModelView[] }> {
  const drivers: DriverView[] = [];
  for (const name of DRIVERS) drivers.push({ name, isReady: await isSetUp(name), remedy: remedies[name] });
  const ready = new Set(drivers.filter(({ isReady }) => isReady).map(({ name }) => name));
  const models = knownModels().map(({ driver, id, short, card, price: listed }): ModelView => {
    const price = ownPrice(settings, id) ?? listed;
    const own = withOwn(card, findOwn(settings, card));
    const { maxInputTokens: context, maxOutputTokens: maxOutput, supports, seen } = own;
    const { thinking = "none", effort = [], images, cache = "none" } = supports;
    return {
      ...{ driver, id, short, context, maxOutput, thinking, effort, images, cache },
      price: price === undefined ? null : { input: price.input, output: price.output },
      isReady: ready.has(driver),
      ...(seen === undefined ? {} : { seen }),
    };
  });
  return { drivers, models };
}
