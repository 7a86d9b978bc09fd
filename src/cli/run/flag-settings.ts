/**
 * `--settings <file>`: settings of one run, in a file or as JSON. Its rules have a source of their own; its single
 * values count like the flags of the run, which take precedence. Settings that do not apply to one run and mistyped
 * keys are refused: a silently ignored deny would be worse.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Fault, messageOf } from "../../abi/errors.ts";
import { EFFORTS, type Effort, isEffort } from "../../abi/llm.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { type Args, textFlag } from "../args.ts";
import { invalid } from "../screen/errors.ts";

const MAX_BYTES = 1024 * 1024;

type Limits = NonNullable<SpawnRequest["limits"]>;

interface FlagSettings {
  readonly rules: NonNullable<SpawnRequest["settings"]>;
  readonly model?: string;
  readonly effort?: Effort;
  readonly fallbacks?: string[];
  readonly maxSteps?: number;
  readonly mode?: PermissionMode;
  readonly limits: Limits;
}

const NONE: FlagSettings = { rules: {}, limits: {} };

/** INVALID: the error names the file and the key. */
export function flagSettings(args: Args, cwd: string): FlagSettings {
  const given = textFlag(args, "settings");
  if (given === undefined) return NONE;
  const { place, value } = jsonOrFile(given, cwd, { flag: "--settings", what: "settings" });
  return taken(place, value);
}

/** The value of a flag that takes JSON or a file of it. `what` is in the file, for the error. */
export function jsonOrFile(
  given: string,
  cwd: string,
  { flag, what }: { readonly flag: string; readonly what: string },
): { readonly place: string; readonly value: unknown } {
  const isText = given.trimStart().startsWith("{");
  const place = isText ? flag : given;
  try {
    return { place, value: JSON.parse(isText ? given : textOf(resolve(cwd, given), what)) };
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid(`${place}: not JSON: ${error.message}`);
    throw error;
  }
}

/** Opened without waiting, so a pipe without a writer does not block. `what` is in it, for the error. */
export function textOf(path: string, what: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("not a regular file");
    if (stats.size > MAX_BYTES) throw new Error(`over ${MAX_BYTES} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(fd));
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT")
      throw new Fault({ code: "NOT_FOUND", message: `${what} not found: ${path}` });
    throw invalid(`${what} cannot be read: ${path}: ${messageOf(error)}`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function taken(place: string, value: unknown): FlagSettings {
  const root = new Part(place, "", value);
  const permissions = root.part("permissions");
  const steps = root.part("defaults").count("maxSteps");
  const { rules, mode } = permissionsOf(permissions);
  const model = root.text("model");
  const effort = root.text("effort");
  if (effort !== undefined && !isEffort(effort))
    throw root.wrong("effort", `is not a level: ${effort}`, `levels: ${EFFORTS.join(", ")}`);
  const fallbacks = root.texts("fallbackModel");
  const limits = limitsOf(root);
  root.text("$schema");
  root.end();
  return {
    rules,
    limits,
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(fallbacks === undefined ? {} : { fallbacks: [...fallbacks] }),
    ...(steps === undefined ? {} : { maxSteps: steps }),
    ...(mode === undefined ? {} : { mode }),
  };
}

function permissionsOf(part: Part): Pick<FlagSettings, "rules" | "mode"> {
  const mode = part.text("defaultMode");
  const lists = { allow: part.texts("allow"), ask: part.texts("ask"), deny: part.texts("deny") };
  const rules = Object.fromEntries(Object.entries(lists).filter(([, list]) => list !== undefined));
  part.end();
  if (mode === undefined) return { rules };
  const known = findPermissionMode(mode);
  if (known === undefined)
    throw part.wrong("defaultMode", `is not a mode: ${mode}`, `modes: ${PERMISSION_MODES.join(", ")}`);
  if (known === "bypass")
    throw part.wrong("defaultMode", "cannot be bypass", "--permission-mode bypass starts a run in it");
  return { rules, mode: known };
}

function limitsOf(root: Part): Limits {
  const budget = root.part("budget");
  const usd = budget.amount("usd") ?? root.amount("maxBudgetUsd");
  const wallMs = budget.count("wallMs");
  const counts = ["tokens", "steps", "depth", "children", "concurrent"].flatMap((key) => {
    const count = budget.count(key, key === "tokens" || key === "steps" ? 1 : 0);
    return count === undefined ? [] : [[key, count] as const];
  });
  budget.end();
  return {
    ...Object.fromEntries(counts),
    ...(usd === undefined ? {} : { usd }),
    ...(wallMs === undefined ? {} : { wall_ms: wallMs }),
  };
}

/** An object of the file. Each reader throws INVALID with the file and the key. */
class Part {
  readonly #place: string;
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #read: string[] = [];

  constructor(place: string, path: string, value: unknown) {
    this.#place = place;
    this.#path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw invalid(`${place}: ${path === "" ? "the settings" : path.slice(0, -1)} must be an object`);
    this.#values = value as Record<string, unknown>;
  }

  part(key: string): Part {
    return new Part(this.#place, `${this.#path}${key}.`, this.#take(key) ?? {});
  }

  text(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === "string") return value;
    throw this.wrong(key, "must be text");
  }

  texts(key: string): string[] | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.wrong(key, "must be a list of texts");
    return value.map((item: unknown, at) => {
      if (typeof item === "string" && item.trim() !== "") return item;
      throw this.wrong(`${key}.${at}`, "must be text");
    });
  }

  count(key: string, least = 1): number | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    throw this.wrong(key, `must be a whole number from ${least}`);
  }

  amount(key: string): number | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (typeof value === "number" && value > 0 && value <= 1e9) return value;
    throw this.wrong(key, "must be an amount of US dollars over 0");
  }

  /** Called after all known keys were read: any other key is an error. */
  end(): void {
    const other = Object.keys(this.#values).find((key) => !this.#read.includes(key));
    if (other === undefined) return;
    const [near] = nearNames(other, this.#read, 2);
    const hint = near === undefined ? TAKEN : `did you mean ${this.#path}${near}?`;
    throw this.wrong(other, "is not taken from --settings", hint);
  }

  wrong(key: string, what: string, hint?: string): Error {
    return invalid(`${this.#place}: ${this.#path}${key} ${what}`, hint);
  }

  #take(key: string): unknown {
    this.#read.push(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }
}

const TAKEN =
  "taken are permissions.{allow,ask,deny,defaultMode}, model, fallbackModel, effort, defaults.maxSteps, budget, maxBudgetUsd; the rest is read from settings.json";
