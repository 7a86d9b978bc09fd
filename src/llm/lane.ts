/**
 * The lane of a request: those that share the limits of one account share a lane. Vendors limit each model by itself; a
 * server of one's own, and limits that the user states for a driver, hold for all its models together.
 */
import { hash } from "node:crypto";
import type { LaneLimits, LaneReading, LaneReadings } from "../abi/lanes.ts";
import { findOwn, type ModelSettings } from "./own-models.ts";

export interface LaneOptions {
  readonly device: string;
  readonly driver: string;
  /** The variables that an instance of the driver depends on; absent: one account for all callers. */
  readonly envKeys?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /**
   * `model`: its vendor limits each model. `account`: all models together. `server`: the same, by a server of the user's
   * own, which answers one at a time unless told otherwise. `none`: nothing limits it but what the user states.
   */
  readonly per: "model" | "account" | "server" | "none";
}

/** How many a server of the user's own answers at once, if no setting says. */
const SERVER_SLOTS = 1;

/** undefined: nothing limits it. */
export function laneOf(
  { device, driver, envKeys, env, per }: LaneOptions,
  settings: ModelSettings,
  model: string,
): { readonly lane: string; readonly limits: LaneLimits } | undefined {
  const ofModel = findOwn(settings, { driver, id: model })?.limits;
  const ofDriver = settings.models?.[driver]?.limits;
  const stated = ofModel ?? ofDriver;
  if (stated === undefined && per === "none") return undefined;
  const isPerModel = ofModel !== undefined || (ofDriver === undefined && per === "model");
  const account = envKeys === undefined ? "" : ` #${accountOf(envKeys, env)}`;
  const lane = `${device}${isPerModel && model !== "" ? ` ${model}` : ""}${account}`;
  return { lane, limits: limitsOf(stated, per) };
}

function limitsOf(stated: Stated | undefined, per: LaneOptions["per"]): LaneLimits {
  const maxConcurrent = stated?.maxConcurrent ?? (per === "server" ? SERVER_SLOTS : undefined);
  const perMinute = {
    ...(stated?.requestsPerMinute === undefined ? {} : { requests: stated.requestsPerMinute }),
    ...(stated?.inputTokensPerMinute === undefined ? {} : { input: stated.inputTokensPerMinute }),
    ...(stated?.outputTokensPerMinute === undefined ? {} : { output: stated.outputTokensPerMinute }),
    ...(stated?.tokensPerMinute === undefined ? {} : { tokens: stated.tokensPerMinute }),
  };
  return { ...(maxConcurrent === undefined ? {} : { maxConcurrent }), perMinute };
}

type Stated = NonNullable<NonNullable<ReturnType<typeof findOwn>>["limits"]>;

/** Names server and credential without showing either. A chosen model or a flag of ours makes no other account. */
function accountOf(envKeys: readonly string[], env: Readonly<Record<string, string>>): string {
  const keys = envKeys.filter((key) => !/_MODEL$|^CRUX_/.test(key));
  return hash("sha256", JSON.stringify(keys.map((key) => env[key] ?? null))).slice(0, 8);
}

/** The names of what each flow has left, and of its limit, by vendor. */
const READ_FROM = {
  requests: [
    ["anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining"],
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests"],
  ],
  input: [["anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining"]],
  output: [["anthropic-ratelimit-output-tokens-limit", "anthropic-ratelimit-output-tokens-remaining"]],
  tokens: [["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens"]],
} as const;

/** What the headers of an answer say of limits; undefined: nothing. */
export function readingsOf(header: (name: string) => string | undefined): LaneReadings | undefined {
  const found = Object.entries(READ_FROM).flatMap(([flow, vendors]) => {
    const readings = vendors.map(([limit, left]) => readingOf(header(limit), header(left)));
    const reading = readings.find((each) => each !== undefined);
    return reading === undefined ? [] : [[flow, reading] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function readingOf(limitText: string | undefined, leftText: string | undefined): LaneReading | undefined {
  const [limit, remaining] = [countOf(limitText), countOf(leftText)];
  if (limit === undefined && remaining === undefined) return undefined;
  return { ...(limit === undefined ? {} : { limit }), ...(remaining === undefined ? {} : { remaining }) };
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}
