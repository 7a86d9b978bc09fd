/**
 * The policy combines rules, ceiling, kernel paths and modes into one decision on the effects of a call. Synchronous,
 * and a function of its arguments; it asks the host only where a path leads and whether it exists. A failure inside
 * makes the decision an ask, never an allow.
 */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { Effect } from "../abi/effects.ts";
import type { PermissionMode } from "../abi/process.ts";
import type { OwnNotes, Rights } from "../abi/rights.ts";
import type { RuleText } from "../abi/rules.ts";
import type { SandboxProfile } from "../abi/sandbox.ts";
import { canonicalToolName } from "../abi/tool.ts";
import type { RealPath } from "../kernel/ports/host.ts";
import type { Decision, Permit, PermitRequest, Subject } from "../kernel/ports/permit.ts";
import { isAutoModeActive, withoutDangerous } from "./auto/strip.ts";
import { allowsTool, deniesTool, judgeCall } from "./judge/call.ts";
import { type Case, formsOf, freeOf, ownNotes, type Places } from "./judge/case.ts";
import { isListed, judgeCeiling } from "./judge/ceiling.ts";
import { destroyedBy } from "./judge/destroys.ts";
import { analysisOf, isCertain, judgeExec, partsOf } from "./judge/exec.ts";
import { DEFAULT_LABEL_POLICY, type ExecFacts, judgeLabels, type LabelPolicy } from "./judge/label.ts";
import { inMode } from "./judge/mode.ts";
import { originsOf } from "./judge/origins.ts";
import { judgeMcp, judgeMessage, judgeMode, judgeNetwork, judgeSpawn, judgeUnknown } from "./judge/other.ts";
import { findOtherNames, isKernelFile } from "./judge/other-names.ts";
import { judgePath } from "./judge/path.ts";
import { allow, hardAsk, strictest, toDecision, type Verdict } from "./judge/verdict.ts";
import { isGitProgram } from "./rules/git-programs.ts";
import { effectiveMode } from "./rules/mode.ts";
import { normalPath } from "./rules/paths.ts";
import { protections } from "./rules/protected.ts";
import { findRemedies } from "./rules/remedy.ts";
import { restrictionsOf } from "./rules/restriction.ts";
import { notRule, type Rule } from "./rules/rule.ts";
import { makeGrantParser, makeRuleSet, type RuleSet, withRights } from "./rules/rule-set.ts";
import {
  autoAllowed,
  judgeOptOut,
  makeSandbox,
  type SandboxOptions,
  type SandboxSettings,
} from "./sandbox/profile.ts";
import { loadParser } from "./shell/parser.ts";

export interface PermitOptions {
  /** The rules of all sources; the shipped defaults are added here. */
  readonly rules: readonly RuleText[];
  readonly defaultMode: PermissionMode;
  /** Absolute or `~/…`: reading is allowed there as in the working directories. */
  readonly additionalDirectories: readonly string[];
  /** The directory where project patterns begin; absent: the working directories of the process. */
  readonly projectRoot?: string;
  /** Whether the user has trusted the project. Absent: no, and what the project brings allows nothing. */
  readonly isTrusted?: boolean;
  readonly home: string;
  /** The state directory, the runtime directory and the policy: closed to every call in every mode. */
  readonly kernelPaths: readonly string[];
  /** Resolves the operands of shell commands; the gate has already resolved all other paths. */
  readonly realPath: RealPath;
  /** Used to find the repository that git would work in; absent: the host's file system. */
  readonly exists?: (path: string) => boolean;
  /** Modes that no process may enter. */
  readonly closedModes?: readonly PermissionMode[];
  readonly protection?: { readonly added: readonly string[]; readonly removed: readonly string[] };
  readonly labels?: Partial<LabelPolicy>;
  /** Absolute paths. */
  readonly memoryPaths?: readonly string[];
  /** Those of them that are for processes of this project, absolute: notes in them are read and written unasked. */
  readonly ownMemory?: readonly string[];
  /** The memory of this project and of the user, absolute, for agents with notes of their own. Absent: it is off. */
  readonly noteFolders?: Readonly<Record<OwnNotes["scope"], string>>;
  /** Folders of skills outside the project, absolute: what lies in them is read without asking. */
  readonly skillPaths?: readonly string[];
  /** Problems of settings files that may have lost a deny: every call of a tool asks. */
  readonly unreadable?: readonly string[];
  /** Problems of the administrator's policy: every call is refused, except on the process's own state. */
  readonly policyProblems?: readonly string[];
  /** Absent: commands are confined by the defaults. */
  readonly sandbox?: SandboxSettings;
  /** Whether the project's volume ignores case and invisible characters in names. */
  readonly foldsNames?: boolean;
}

interface Policy {
  readonly options: PermitOptions;
  readonly rules: RuleSet;
  readonly places: Places;
  readonly added: readonly string[];
  readonly closed: ReadonlySet<PermissionMode>;
  /** The rule set with the rules of rights, parsed once, by their deny rules: one process has them in several modes. */
  readonly byRights: WeakMap<Rights["deny"], { readonly of: Rights; readonly rules: RuleSet }>;
  readonly parseGrants: (grants: readonly string[]) => readonly Rule[];
}

/** `warnings`: messages about the rules for the user, one line each. */
export function makePermit(options: PermitOptions): Permit & { readonly warnings: readonly string[] } {
  const policy = makePolicy(options);
  const { rules, closed } = policy;
  const confining = sandboxOptions(policy);
  const sandbox = makeSandbox(confining);
  const decideConfined = (subject: Subject, request: PermitRequest): Decision => {
    try {
      const isOffline = () => sandbox.sandbox(subject, request)?.network === "off";
      return autoAllowed(confining, subject, request, decide(policy, subject, request, isOffline));
    } catch (error) {
      return failed(error);
    }
  };
  return {
    ...sandbox,
    defaultMode: closed.has(options.defaultMode) ? "default" : options.defaultMode,
    warnings: rules.warnings,
    mayEnter: (mode) => !closed.has(mode),
    notRule,
    restrictions: (root = options.projectRoot) => restrictionsOf(rules, root),
    hides: (subject, tool) => hides(policy, subject, canonicalToolName(tool)),
    origins: (subject, request) => {
      const c = makeCase(policy, subject, request);
      // computed lazily: most commands have no network, so nobody asks whether they only read
      return originsOf(c, request.effects, (exec) => ({
        isReadOnly: () => execFacts(c, exec).isReadOnly,
        network: mayReach(options.sandbox, exec) ? networkOf(sandbox.sandbox(subject, request)) : "off",
        parts: partsOf(c, exec),
      }));
    },
    remedies: (subject, request) =>
      findRemedies(
        {
          decide: decideConfined,
          partsOf: (exec) => partsOf(makeCase(policy, subject, request), exec),
        },
        subject,
        request,
      ),
    ready: (effects) => (effects.some(({ kind }) => kind === "exec") ? loadParser() : null),
    destroys: (effects) => destroyedBy(policy.places, effects),
    decide: decideConfined,
  };
}

/** Whether the settings could give the command a network. */
function mayReach(
  { mode, excluded = [], network }: SandboxSettings = {},
  { unconfined }: Extract<Effect, { kind: "exec" }>,
): boolean {
  return unconfined === true || mode === "off" || excluded.length > 0 || (network?.allow ?? []).length > 0;
}

function networkOf(profile: SandboxProfile | null): "off" | "some" | "all" {
  if (profile === null || profile.network === "host") return "all";
  return profile.network === "off" ? "off" : "some";
}

function sandboxOptions(policy: Policy): SandboxOptions {
  const { options, places, added } = policy;
  const { sandbox = {}, rules, realPath } = options;
  const { excluded = [] } = sandbox;
  const outside = excluded.map((text) => ({ source: "userSettings", behavior: "allow", text }) as const);
  const alone = excluded.length === 0 ? undefined : makePolicy({ ...options, rules: outside });
  return {
    settings: sandbox,
    rules,
    home: places.home,
    kernelPaths: places.kernel,
    memory: places.memory,
    added,
    protections: places.protections,
    realPath,
    decide: (subject, request) => decide(policy, subject, request),
    analyse: (effect) => analysisOf(places, effect),
    ...(alone === undefined
      ? {}
      : { decideExcluded: (subject: Subject, request: PermitRequest) => decide(alone, subject, request) }),
  };
}

function makePolicy(options: PermitOptions): Policy {
  return {
    options,
    rules: makeRuleSet(options.rules, options.isTrusted === true, options.policyProblems?.[0]),
    places: makePlaces(options),
    added: bothForms(options, options.additionalDirectories),
    closed: new Set(options.closedModes),
    byRights: new WeakMap(),
    parseGrants: makeGrantParser(),
  };
}

/** A tool is hidden if every call of it would be refused. */
function hides(policy: Policy, subject: Subject, tool: string): boolean {
  const { tools = null, notes } = subject.rights ?? {};
  if (notes?.tools.includes(tool) === true) {
    const isOff = ownNotes({ places: policy.places, subject }).length === 0;
    return isOff || deniesTool(rulesOf(policy, subject), tool);
  }
  return (tools !== null && !isListed(tools, tool)) || deniesTool(rulesOf(policy, subject), tool);
}

function rulesOf({ rules, options, byRights }: Policy, { rights }: Subject): RuleSet {
  if (rights === undefined) return rules;
  const kept = byRights.get(rights.deny);
  if (kept?.of.ask === rights.ask && kept.of.allow === rights.allow) return kept.rules;
  const united = withRights(rules, rights, options.isTrusted === true);
  byRights.set(rights.deny, { of: rights, rules: united });
  return united;
}

function failed(error: unknown): Extract<Decision, { behavior: "ask" }> {
  const detail = `the policy failed: ${error instanceof Error ? error.message : String(error)}`;
  return { behavior: "ask", message: detail, always: null, isHard: true, reason: { kind: "error", detail } };
}

function makePlaces(options: PermitOptions): Places {
  const {
    home,
    kernelPaths,
    realPath,
    exists = existsSync,
    memoryPaths,
    ownMemory = [],
    noteFolders,
    skillPaths = [],
    protection,
  } = options;
  const root = posix.resolve("/", home);
  const kernel = bothForms(options, kernelPaths);
  const table = protections(root, realPath, { ...protection, projectRoot: options.projectRoot });
  return {
    home: root,
    kernel,
    protections: table,
    memory: bothForms(options, memoryPaths ?? [posix.join(root, ".config/crux/memory")]),
    ownMemory: bothForms(options, ownMemory),
    noteFolders: {
      local: bothForms(options, noteFolders === undefined ? [] : [noteFolders.local]),
      user: bothForms(options, noteFolders === undefined ? [] : [noteFolders.user]),
    },
    skills: bothForms(options, skillPaths),
    realPath,
    exists,
    isKernelFile: (path) => isKernelFile(kernel, path),
    otherNames: (path, roots) => findOtherNames({ home: root, kernel, protections: table }, path, roots),
    isGitProgram: (path, isWhole) => isGitProgram(path, root, isWhole),
    foldsNames: options.foldsNames === true,
  };
}

function bothForms({ home, realPath }: PermitOptions, dirs: readonly string[]): readonly string[] {
  return dirs.flatMap((dir) => {
    const path = dir === "~" || dir.startsWith("~/") ? posix.join(home, dir.slice(1)) : dir;
    return path.startsWith("/") ? formsOf(path, realPath(path)) : [];
  });
}

function makeCase(policy: Policy, asking: Subject, request: PermitRequest): Case {
  const { options, places, added, closed, parseGrants } = policy;
  const { projectRoot, labels, unreadable = [] } = options;
  const subject = { ...asking, mode: effectiveMode(asking, closed) };
  const rules = rulesOf(policy, asking);
  const tool = canonicalToolName(request.tool);
  const own = subject.roots.length > 0 ? subject.roots : [subject.cwd];
  const project = projectRoot === undefined ? own : [projectRoot];
  const given = [...rules.allow, ...parseGrants(subject.grants)];
  const allowed = isAutoModeActive(subject) ? withoutDangerous(given) : given;
  const callRule = allowed.find((rule) => allowsTool(rule, tool));
  const roots = [...own, ...added];
  return {
    subject,
    tool,
    isReadOnly: request.readOnly === true,
    rules,
    allow: allowed,
    callRule,
    places,
    roots,
    // real paths already: a link that the process has put in place of its own folder is not followed
    free: freeOf(subject).map(normalPath),
    shared: subject.shared === undefined ? null : normalPath(subject.shared),
    labelPolicy: { ...DEFAULT_LABEL_POLICY, ...labels },
    unreadable,
    bases: { home: places.home, project },
    generousBases: { home: places.home, project: [...project, ...roots] },
  };
}

/** `isOffline`: whether the commands of the call will run without network. Asked only for labelled data. */
function decide(
  policy: Policy,
  subject: Subject,
  request: PermitRequest,
  isOffline: () => boolean = never,
): Decision {
  const c = makeCase(policy, subject, request);
  const { effects } = request;
  const call = judgeCall(c, effects);
  const optOut = judgeOptOut(policy.options.sandbox ?? {}, effects);
  const whole = [call === null ? null : inMode(c, call), judgeCeiling(c, effects), optOut];
  const verdicts = [
    ...whole.filter((verdict) => verdict !== null),
    ...effects.flatMap((effect) => judgeInMode(c, effect, isOffline)),
  ];
  return toDecision(strictest(verdicts), isAutoModeActive(c.subject));
}

const never = (): boolean => false;

/** The verdicts on the effect, by rules and by labels, each adjusted to the mode of the process. */
function judgeInMode(c: Case, effect: Effect, isOffline: () => boolean): readonly Verdict[] {
  try {
    const verdict = judgeEffect(c, effect);
    let known: ReturnType<typeof execFacts> | undefined;
    const found = () => (known ??= execFacts(c, effect, verdict));
    const labelled = judgeLabels(c, effect, () => ({ ...found(), isOffline: isOffline() }));
    return [verdict, labelled]
      .filter((each) => each !== null)
      .map((each) => inMode(c, each, { effect, isReadOnly: () => found().isReadOnly }));
  } catch (error) {
    // the other verdicts on the call still count: a failure removes no deny
    const { message, reason } = failed(error);
    return [inMode(c, hardAsk(reason.kind, reason.detail, message))];
  }
}

/**
 * A command is read-only if it is allowed in plan mode without any rule that allows commands. `judged`: the verdict on it
 * in this case, which is the answer where the case is such a one.
 */
function execFacts(c: Case, effect: Effect, judged?: Verdict): Omit<ExecFacts, "isOffline"> {
  const allow = c.allow.filter(({ match }) => match.kind === "path" && match.access === "read");
  const isBare = c.subject.mode === "plan" && c.callRule === undefined && allow.length === c.allow.length;
  const bare = { ...c, allow, callRule: undefined, subject: { ...c.subject, mode: "plan" as const } };
  const verdict = isBare && judged !== undefined ? judged : judgeEffect(bare, effect);
  return {
    isReadOnly: verdict.behavior === "allow",
    isCertain: effect.kind === "exec" && isCertain(c, effect),
  };
}

function judgeEffect(c: Case, effect: Effect): Verdict {
  switch (effect.kind) {
    case "read": {
      const { path, real, subtree } = effect;
      return judgePath(c, { access: "read", path, real, subtree });
    }
    case "write": {
      const { path, real, change } = effect;
      return judgePath(c, { access: "write", path, real, replaces: change !== "create" });
    }
    case "exec":
      return judgeExec(c, effect);
    case "network":
      return judgeNetwork(c, effect);
    case "spawn":
      return judgeSpawn(c, effect);
    case "message":
      return judgeMessage(c, effect);
    case "mode":
      return judgeMode(c, effect);
    case "person":
      return allow("default", "the user answers");
    case "llm":
      return allow("default", "model calls are left to the budget");
    case "state":
      return allow("default", "its own state");
    case "mcp":
      return judgeMcp(c, effect);
    case "unknown":
      return judgeUnknown(c, effect);
    default:
      throw new Error(`an effect of no known kind: ${JSON.stringify(effect satisfies never)}`);
  }
}
