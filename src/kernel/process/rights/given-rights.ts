/**
 * The rights given to a process at its spawn: its parent's current rights, narrowed by its definition and the request.
 * Only the user goes beyond the parent's rights, with rules of the command line.
 */
import { type AgentInfo, type AgentManifest, noteTools } from "../../../abi/agent.ts";
import { Fault } from "../../../abi/errors.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import { outwardRule } from "../../../abi/labels.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import { ALL_RIGHTS, type Rights, type RightsWish } from "../../../abi/rights.ts";
import type { RuleSource, RuleText } from "../../../abi/rules.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { canonicalToolName } from "../../../abi/tool.ts";
import type { Worktree } from "../../../abi/worktree.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Permit } from "../../ports/permit.ts";
import type { Body } from "../body.ts";
import { isMemoryOff } from "../memory-off.ts";
import type { Process } from "../process.ts";
import { rightsHere } from "../tree/entered.ts";
import { wallOf } from "../tree/worktree.ts";
import { lowest, narrow } from "./narrow.ts";
import { devicesOf } from "./rights.ts";

/** The ceiling of processes that the user starts: they enter `bypass` only at their start, other modes later too. */
const TOP_CEILING: PermissionMode = "auto";
/** The mode of an agent started by another process, if nothing specifies one. */
const SUB_MODE: PermissionMode = "accept_edits";

/** Where the rules of a directory are found. */
interface Policies {
  readonly ports: Pick<KernelPorts, "permitFor" | "realPath">;
}

interface Giving {
  readonly core: Policies;
  /** The process that requests the spawn. */
  readonly caller: Process;
  /** The process whose rights it gets in part. */
  readonly giver: Process;
  readonly body: Body;
  readonly opts: SpawnOpts;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly worktree?: Worktree | undefined;
}

/** The rights and the initial mode. */
export function givenRights(giving: Giving): { rights: Rights; mode: PermissionMode } {
  const { core, caller, giver, body, opts, cwd, env, worktree } = giving;
  const isTop = giver.pid === PID_KERNEL;
  const isPersons = isTop || caller.pid === PID_KERNEL;
  const manifest = body.agent?.manifest;
  const mode = isTop ? topMode(core, opts, cwd) : subMode(giver, body, opts);
  const over = isTop ? topRights(mode) : ofParent(core, giver, cwd);
  const { roots } = opts.rights ?? {};
  const wish = { ...opts.rights, ...(roots === undefined ? {} : { roots: roots.map(core.ports.realPath) }) };
  const own = narrow(definitionOf(body.agent), wished(wish, isPersons));
  const rights = {
    ...narrow(over, { ...own, ...(worktree === undefined ? {} : wallOf(worktree)) }),
    ...(isOff(env) || over.noMemory === true
      ? {}
      : notesOf(manifest, [over.tools, wish.tools?.map(canonicalToolName) ?? null])),
  };
  const given = isPersons ? [...personsRules(opts.rights ?? {}), ...outwardRules(isTop, manifest)] : [];
  return {
    rights: given.length === 0 ? rights : { ...rights, allow: [...(rights.allow ?? []), ...given] },
    mode: lowest(mode, manifest?.permissionMode, rights.mode),
  };
}

const MAX_FOLDER_CHARS = 64;

function isOff({ CRUX_DISABLE_AUTO_MEMORY: off = "" }: Giving["env"]): boolean {
  return off !== "";
}

/** The tools for its notes are limited as all others are: by the parent's, and by the request. */
function notesOf(
  manifest: AgentManifest | undefined,
  limits: readonly Rights["tools"][],
): Pick<Rights, "notes"> {
  const { memory: scope, name = "" } = manifest ?? {};
  if (manifest === undefined || scope === undefined) return {};
  const isGiven = (tool: string) => limits.every((tools) => tools?.includes(tool) !== false);
  const folder = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "-")
    .slice(0, MAX_FOLDER_CHARS);
  return { notes: { scope, folder, tools: noteTools(manifest).filter(isGiven) } };
}

/** INVALID: too many rules, or a rule that is empty or too long. */
export function checkWish(wish: RightsWish): void {
  const { allow = [], deny = [], ask = [], tools = [], hosts = [], roots = [], settings = {} } = wish;
  const all = [...allow, ...deny, ...ask, ...tools, ...hosts, ...roots, ...Object.values(settings).flat()];
  if (all.length > LIMITS.spawnRules)
    throw invalid(`${all.length} rules for one process; at most ${LIMITS.spawnRules}`);
  for (const text of all)
    if (typeof text !== "string" || text.trim() === "" || text.length > LIMITS.ruleChars)
      throw invalid(`a rule has 1 to ${LIMITS.ruleChars} characters: ${String(text).slice(0, 80)}`);
}

/** INVALID: a rule that would match nothing, or every call. So the user gets the error before anything runs. */
export function checkPersonsRules(permit: Pick<Permit, "notRule">, wish: RightsWish): void {
  for (const rule of [...personsRules(wish), ...wished(wish, true).ask, ...wished(wish, true).deny]) {
    const why = permit.notRule?.(rule) ?? null;
    if (why !== null) throw invalid(`not a rule: ${JSON.stringify(rule.text)}: ${why}`);
  }
}

/** What the user allows in addition to the settings. */
function personsRules({ allow, settings }: RightsWish): readonly RuleText[] {
  return [...rules(allow, "allow", "cliArg"), ...rules(settings?.allow, "allow", "flagSettings")];
}

/** The definition of an agent that the user starts counts as the user's own rules; that of a child can only narrow. */
function outwardRules(isTop: boolean, manifest: AgentManifest | undefined): readonly RuleText[] {
  return isTop ? rules(manifest?.outward?.map(outwardRule), "allow", "cliArg") : [];
}

function topMode(core: Policies, { permissionMode }: SpawnOpts, cwd: string): PermissionMode {
  return permissionMode ?? core.ports.permitFor(cwd).defaultMode;
}

/** Programs of the host and supervisors take the giver's mode, for the processes that they start. */
function subMode(giver: Process, { kind, agent }: Body, { permissionMode }: SpawnOpts): PermissionMode {
  const usual = kind === "agent" ? (agent?.manifest.permissionMode ?? SUB_MODE) : giver.mode;
  return lowest(giver.mode, permissionMode ?? usual);
}

function topRights(mode: PermissionMode): Rights {
  return { ...ALL_RIGHTS, mode: mode === "bypass" ? mode : TOP_CEILING, allow: [] };
}

/** The giver's current rights. A project's own restrictions still apply to a child that leaves the project. */
function ofParent(core: Policies, giver: Process, cwd: string): Rights {
  const { ports } = core;
  const off = isMemoryOff(giver) ? { noMemory: true as const } : {};
  const own = { ...rightsHere(core, giver), mode: giver.mode, devices: devicesOf(giver), ...off };
  if (cwd === giver.seed.cwd) return own;
  const kept = ports.permitFor(giver.seed.cwd).restrictions?.() ?? [];
  if (kept.length === 0) return own;
  const of = (behavior: RuleText["behavior"]) => kept.filter((rule) => rule.behavior === behavior);
  return narrow(own, { ...ALL_RIGHTS, deny: of("deny"), ask: of("ask") });
}

function definitionOf(agent: AgentInfo | null): Rights {
  if (agent === null) return ALL_RIGHTS;
  const { manifest, allowedDevices } = agent;
  const lists = manifest.delegate === true ? {} : listsOf(manifest);
  return {
    ...ALL_RIGHTS,
    mode: manifest.permissionMode ?? ALL_RIGHTS.mode,
    devices: allowedDevices,
    ...lists,
  };
}

/** An allow-list that names no tool of an MCP server does not restrict such tools. */
function listsOf({ tools, disallowedTools = [] }: AgentManifest): Pick<Rights, "tools" | "deny"> {
  const named = tools?.map(canonicalToolName) ?? null;
  const isSilent = named?.every((name) => !name.startsWith("mcp__")) === true;
  return {
    tools: named === null || !isSilent ? named : [...named, "mcp__*"],
    deny: rules(disallowedTools.map(canonicalToolName), "deny", "command"),
  };
}

/** The request as rights to narrow by. What the user allows is not in it: that is added afterwards. */
function wished({ allow, deny, ask, tools, hosts, roots, settings }: RightsWish, isPersons: boolean): Rights {
  const [source, file] = isPersons
    ? (["cliArg", "flagSettings"] as const)
    : (["command", "command"] as const);
  return {
    ...ALL_RIGHTS,
    deny: [...rules(deny, "deny", source), ...rules(settings?.deny, "deny", file)],
    ask: [...rules(ask, "ask", source), ...rules(settings?.ask, "ask", file)],
    allow: allow === undefined || isPersons ? null : rules(allow, "allow", source),
    tools: tools?.map(canonicalToolName) ?? null,
    hosts: hosts?.map((host) => host.toLowerCase()) ?? null,
    roots: roots ?? null,
  };
}

function rules(
  texts: readonly string[] = [],
  behavior: RuleText["behavior"],
  source: RuleSource,
): RuleText[] {
  return texts.map((text) => ({ source, behavior, text }));
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}
