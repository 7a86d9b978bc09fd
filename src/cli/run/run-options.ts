/** The request made by the flags of a run, or of a new session. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { Fault, messageOf } from "../../abi/errors.ts";
import { EFFORTS, type Effort, isEffort } from "../../abi/llm.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { durationFlag, usdFlag } from "../amounts.ts";
import { type Args, countFlag, textFlag } from "../args.ts";
import type { Console } from "../console.ts";
import type { Host } from "../host/host.ts";
import { invalid } from "../screen/errors.ts";
import { clientEnvironment } from "./environment.ts";
import { flagSettings, jsonOrFile, textOf } from "./flag-settings.ts";

/** The whole request except the intent. What is not set is left to the agent file and the settings. */
export function requestOptions(args: Args, host: Host): Omit<SpawnRequest, "intent"> {
  const given = flagSettings(args, host.cwd);
  const agent = textFlag(args, "agent");
  const agents = agentsFlag(args);
  const model = textFlag(args, "model") ?? given.model;
  const effort = effortFlag(args) ?? given.effort;
  const fallbacks = fallbackModels(args) ?? given.fallbacks;
  const maxSteps = countFlag(args, "max-steps") || (given.maxSteps ?? 0);
  const { tokens = 0, ...limitsGiven } = given.limits;
  const budget = countFlag(args, "budget") || tokens;
  const mode = permissionMode(args) ?? given.mode;
  const limits = { ...limitsGiven, ...limitsOf(args) };
  const timeoutMs = durationFlag(args, "timeout");
  const instructions = textOrFile(args, host, "system-prompt");
  const more = textOrFile(args, host, "append-system-prompt");
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(agents === undefined ? {} : { agents }),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(fallbacks === undefined ? {} : { fallback_models: fallbacks }),
    ...(maxSteps === 0 ? {} : { max_steps: maxSteps }),
    ...(budget === 0 ? {} : { budget }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(args.flags.has("plan") ? { plan: true } : {}),
    ...(instructions === undefined ? {} : { instructions }),
    ...(more === undefined ? {} : { system_prompt: more }),
    ...toolsOf(args),
    ...rules(args),
    ...(Object.keys(given.rules).length === 0 ? {} : { settings: given.rules }),
    cwd: workingDirectory(args, host),
    ...moreDirectories(args, host),
    ...mcpServers(args, host),
    ...(args.flags.has("worktree") ? { worktree: textFlag(args, "worktree") ?? "" } : {}),
    env: clientEnvironment(host.env),
    // elapsed time, notice, tool and log lines are sent only to clients that request them
    verbose: true,
  };
}

/** Agents as JSON. INVALID: it is not a map of names to settings. */
export function agentsFlag(args: Args): SpawnRequest["agents"] {
  const text = textFlag(args, "agents");
  if (text === undefined) return undefined;
  try {
    const map: unknown = JSON.parse(text);
    if (isMapOfMaps(map)) return map;
  } catch (error) {
    throw invalid(`--agents: not JSON: ${messageOf(error)}`);
  }
  throw invalid("--agents takes an object: names of agents, each with its settings and a prompt");
}

/** Of two servers with one name the later counts. INVALID: what is given is not a map of servers. */
function mcpServers(
  { values, flags }: Args,
  { cwd }: Host,
): Pick<SpawnRequest, "mcp_servers" | "strict_mcp"> {
  const maps = values.get("mcp-config")?.map((given) => {
    const { place, value } = jsonOrFile(given, cwd, { flag: "--mcp-config", what: "MCP servers" });
    const { mcpServers: servers } = (value ?? {}) as { readonly mcpServers?: unknown };
    if (isMapOfMaps(servers)) return servers;
    throw invalid(`${place}: needs mcpServers, an object: names of servers, each with its settings`);
  });
  return {
    ...(maps === undefined ? {} : { mcp_servers: Object.assign({}, ...maps) as MapOfMaps }),
    ...(flags.has("strict-mcp-config") ? { strict_mcp: true } : {}),
  };
}

type MapOfMaps = Record<string, Record<string, unknown>>;

function isMapOfMaps(value: unknown): value is MapOfMaps {
  const isMap = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);
  return isMap(value) && Object.values(value as object).every(isMap);
}

/** The value of the flag, or what stands in the file that its twin `…-file` names. */
function textOrFile(args: Args, { cwd }: Host, flag: string): string | undefined {
  const [text, path] = [textFlag(args, flag), textFlag(args, `${flag}-file`)];
  if (text !== undefined && path !== undefined) throw invalid(`either --${flag} or --${flag}-file, not both`);
  return path === undefined ? text : textOf(resolve(cwd, path), "instructions");
}

/** Several names may stand in one value; `default` means those that the agent has without the flag. */
function toolsOf({ values }: Args): Pick<SpawnRequest, "tools"> {
  const given = values.get("tools")?.flatMap((text) => text.match(/[^\s,]+/g) ?? []);
  return given === undefined || given.includes("default") ? {} : { tools: given };
}

/** Names separated by commas. */
function fallbackModels(args: Args): string[] | undefined {
  const names = textFlag(args, "fallback-model")
    ?.split(",")
    .map((name) => name.trim());
  if (names?.includes("")) throw invalid("--fallback-model takes names of models, separated by commas");
  return names;
}

/** Requests call lines if the console has a screen for them. */
export function callsWish({ showsCalls }: Console): { calls?: true } {
  return showsCalls ? { calls: true } : {};
}

/** Each flag may be given more than once. */
function rules({ values }: Args): Pick<SpawnRequest, "allow" | "deny"> {
  const of = (flag: string, list: string): string[] => [
    ...(values.get(flag) ?? []),
    ...(values.get(list) ?? []).flatMap((text) => text.match(RULES) ?? []),
  ];
  const [allow, deny] = [of("allow", "allowed-tools"), of("deny", "disallowed-tools")];
  return { ...(allow.length === 0 ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}

/** Rules of a list, split at blanks and commas outside parentheses. */
const RULES = /(?:\([^)]*\)|[^\s,(])+/g;

function limitsOf(args: Args): NonNullable<SpawnRequest["limits"]> {
  const usd = usdFlag(args, "max-usd");
  const ms = durationFlag(args, "max-time");
  return { ...(usd === undefined ? {} : { usd }), ...(ms === undefined ? {} : { wall_ms: ms }) };
}

function permissionMode(args: Args): PermissionMode | undefined {
  const mode = textFlag(args, "permission-mode");
  if (args.flags.has("dangerously-skip-permissions")) {
    if (mode === undefined || mode === "bypass") return "bypass";
    throw invalid("--dangerously-skip-permissions is bypass mode: leave --permission-mode out");
  }
  if (args.flags.has("enable-auto-mode")) {
    if (mode === undefined || mode === "auto") return "auto";
    throw invalid("--enable-auto-mode is auto mode: leave --permission-mode out", "to plan first: --plan");
  }
  if (mode === undefined) return undefined;
  const known = findPermissionMode(mode);
  if (known !== undefined) return known;
  throw invalid(`unknown permission mode: ${mode}`, `modes: ${PERMISSION_MODES.join(", ")}`);
}

function effortFlag(args: Args): Effort | undefined {
  const effort = textFlag(args, "effort");
  if (effort === undefined || isEffort(effort)) return effort;
  throw invalid(`unknown effort: ${effort}`, `levels: ${EFFORTS.join(", ")}`);
}

export function workingDirectory(args: Args, host: Host): string {
  const given = textFlag(args, "cwd");
  return given === undefined ? host.cwd : directory(given, host);
}

function moreDirectories({ values }: Args, host: Host): Pick<SpawnRequest, "dirs"> {
  const dirs = values.get("add-dir")?.map((given) => directory(given, host));
  return dirs === undefined ? {} : { dirs };
}

function directory(given: string, host: Host): string {
  // the current folder may be gone
  const path = isAbsolute(given) ? resolve(given) : resolve(host.cwd, given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Fault({ code: "NOT_FOUND", message: `directory not found: ${given}` });
}
