/** What each source wishes for: names of models, with or without their driver. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { findTier } from "../cards.ts";
import { DRIVERS, type DriverName } from "../names.ts";

/** The driver and model that one source names. */
export interface Wish {
  readonly driver: DriverName | undefined;
  readonly model: string;
  /** If its driver is not configured, the run is refused rather than this wish skipped. */
  readonly isFirm: boolean;
  /** The source's name, for the error of a refusal. */
  readonly source?: string;
}

export const AGENT_FILE = "the agent file";

/**
 * The wish of an agent file. Its provider is only preferred, because an agent file does not know what its user has
 * configured; `inherit` names no model.
 */
export function agentWish(provider: string, model: string): Wish {
  const name = model === "inherit" ? "" : model;
  const slash = name.indexOf("/");
  const named = slash < 0 ? undefined : findDriver(name.slice(0, slash));
  const driver = named ?? (provider === "" ? undefined : findDriver(provider));
  const id = named === undefined ? name : name.slice(slash + 1);
  return { driver, model: usual(id), isFirm: false, source: AGENT_FILE };
}

export function wishOf(provider: string | undefined, name: string | undefined): Wish {
  const wish = parseName(name ?? "");
  if (wish.driver !== undefined || !provider) return wish;
  const driver = findDriver(provider);
  if (driver === undefined) throw unknownDriver(provider, "");
  return { ...wish, driver };
}

/** The variables that name a driver by a 1, in their order. */
const USES: readonly (readonly [variable: string, driver: DriverName])[] = [
  ["CRUX_USE_BEDROCK", "bedrock"],
  ["CRUX_USE_VERTEX", "vertex"],
  ["CRUX_USE_OPENAI", "openai"],
  ["CRUX_USE_GEMINI", "gemini"],
  ["CRUX_USE_GROK", "xai"],
];

/** The wish of these variables. `remark`: several are set. */
export function useWish(env: Readonly<Record<string, string>>): {
  readonly wish: Wish;
  readonly remark?: string;
} {
  const [first, ...more] = USES.filter(([variable]) => env[variable] === "1");
  if (first === undefined) return { wish: { driver: undefined, model: "", isFirm: true } };
  const [source, driver] = first;
  const wish = { driver, model: "", isFirm: true, source };
  if (more.length === 0) return { wish };
  return {
    wish,
    remark: `${source} counts, and ${more.map(([each]) => each).join(", ")} does not: one driver answers`,
  };
}

/** The source of a wish, in words. */
export function wordsOf({ source = "--model", model }: Wish): string {
  if (source === "settings.json") return `settings.json (${model === "" ? "modelType" : "model"})`;
  return source === "CRUX_MODEL" && model === "" ? "CRUX_PROVIDER" : source;
}

/** Parses `[<driver>/]<id or tier>`. If an id contains slashes itself, the driver must precede it. */
export function parseName(name: string): Wish {
  const slash = name.indexOf("/");
  if (slash < 0) return { driver: undefined, model: usual(name), isFirm: true };
  const driver = findDriver(name.slice(0, slash));
  if (driver === undefined) throw unknownDriver(name.slice(0, slash), name);
  return { driver, model: usual(name.slice(slash + 1)), isFirm: true };
}

/** The name, with sizes and short names in lower case: they are recognized in any case. INVALID: `inherit` is not. */
function usual(name: string): string {
  const lower = name.toLowerCase();
  if (lower === "inherit" && name !== lower) {
    const message = `no model is called ${name} (did you mean inherit?)`;
    throw new SyscallError({ code: "INVALID", syscall: "Spawn", pid: PID_KERNEL, message });
  }
  return findTier(lower) === undefined ? name : lower;
}

function findDriver(name: string): DriverName | undefined {
  const lower = name.toLowerCase();
  return lower === "grok" ? "xai" : DRIVERS.find((driver) => driver === lower);
}

function unknownDriver(name: string, whole: string): SyscallError {
  const near = nearNames(name.toLowerCase(), DRIVERS, (driver) => Math.ceil(driver.length / 3));
  const similar = near.length === 0 ? `Drivers: ${DRIVERS.join(", ")}` : `Similar: ${near.join(", ")}`;
  return new SyscallError({
    code: "NOT_FOUND",
    syscall: "Spawn",
    pid: PID_KERNEL,
    message: `model driver not found: ${name}. ${similar}`,
    hint:
      whole === "" ? undefined : `A model whose name has a slash is written with its driver: openai/${whole}`,
  });
}
