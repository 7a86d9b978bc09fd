/**
 * The policy: rules, ceiling, kernel paths and modes make of each call's effects one decision. Synchronous, and a
 * function of its arguments; all it asks the host is where a path leads and whether it exists. Whatever goes wrong inside
 * makes the outcome an ask, never an allow.
 */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import type { Effect } from "../abi/effects.ts";
import type { PermissionMode } from "../abi/process.ts";
import type { RuleText } from "../abi/rules.ts";
import { canonicalToolName } from "../abi/tool.ts";
import type { RealPath } from "../kernel/ports/host.ts";
import type { Decision, Permit, PermitRequest, Subject } from "../kernel/ports/permit.ts";
import { type Case, formsOf, type Places } from "./case.ts";
import { judgeCall, judgeCeiling, namesTool } from "./judge-call.ts";
import { judgeExec } from "./judge-exec.ts";
import { judgeMcp, judgeMessage, judgeMode, judgeNetwork, judgeSpawn, judgeUnknown } from "./judge-other.ts";
import { judgePath } from "./judge-path.ts";
import { normalPath } from "./paths.ts";
import { protections } from "./protected.ts";
import { makeRuleSet, parseGrants, type RuleSet } from "./rule-set.ts";
import { allow, strictest, toDecision, type Verdict } from "./verdict.ts";

export interface PermitOptions {
  /** Of all sources; the shipped defaults are added here. */
  readonly rules: readonly RuleText[];
  readonly defaultMode: PermissionMode;
  /** Absolute or `~/…`: reads are free there as in the working directories. */
  readonly additionalDirectories: readonly string[];
  /** Where project patterns begin; absent: at the working directories of the process. */
  readonly projectRoot?: string;
  readonly home: string;
  /** State and runtime directory: closed to every call in every mode. */
  readonly kernelPaths: readonly string[];
  /** Operands of shell commands are resolved with it; the gate has resolved all other paths. */
  readonly realPath: RealPath;
  /** Finds the repository that git would work in; absent: the host is looked at. */
  readonly exists?: (path: string) => boolean;
}

/** `warnings`: what a person should know about the rules, one line each. */
export function makePermit(options: PermitOptions): Permit & { readonly warnings: readonly string[] } {
  const rules = makeRuleSet(options.rules);
  const places = makePlaces(options);
  const added = bothForms(options, options.additionalDirectories);
  return {
    defaultMode: options.defaultMode,
    warnings: rules.warnings,
    decide: (subject, request) => {
      try {
        return decide(makeCase(subject, request, rules, places, added, options), request.effects);
      } catch (error) {
        return failed(error);
      }
    },
  };
}

function failed(error: unknown): Decision {
  const detail = `the policy failed: ${error instanceof Error ? error.message : String(error)}`;
  return { behavior: "ask", message: detail, always: null, reason: { kind: "error", detail } };
}

function makePlaces(options: PermitOptions): Places {
  const { home, kernelPaths, realPath, exists = existsSync } = options;
  const root = posix.resolve("/", home);
  return {
    home: root,
    kernel: bothForms(options, kernelPaths),
    protections: protections(root, realPath),
    realPath,
    exists,
  };
}

function bothForms({ home, realPath }: PermitOptions, dirs: readonly string[]): readonly string[] {
  return dirs.flatMap((dir) => {
    const path = dir === "~" || dir.startsWith("~/") ? posix.join(home, dir.slice(1)) : dir;
    return path.startsWith("/") ? formsOf(path, realPath(path)) : [];
  });
}

function makeCase(
  subject: Subject,
  request: PermitRequest,
  rules: RuleSet,
  places: Places,
  added: readonly string[],
  { projectRoot }: PermitOptions,
): Case {
  const tool = canonicalToolName(request.tool);
  const own = subject.roots.length > 0 ? subject.roots : [subject.cwd];
  const project = projectRoot === undefined ? own : [projectRoot];
  const grants = parseGrants(subject.grants);
  const allowed = [...rules.allow, ...grants];
  const callRule = allowed.find((rule) => rule.match.kind === "all" && namesTool(rule, tool));
  const roots = [...own, ...added];
  return {
    subject,
    tool,
    rules,
    allow: allowed,
    callRule,
    places,
    roots,
    // real paths already: what the process has put in the place of its own folder is not followed
    free: (subject.free ?? []).map(normalPath),
    bases: { home: places.home, project },
    generousBases: { home: places.home, project: [...project, ...roots] },
  };
}

function decide(c: Case, effects: readonly Effect[]): Decision {
  const whole = [judgeCall(c.rules, c.tool, effects), judgeCeiling(c.subject, effects)];
  const verdicts = [
    ...whole.filter((verdict) => verdict !== null),
    ...effects.map((effect) => judgeEffect(c, effect)),
  ];
  return toDecision(strictest(verdicts));
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
      return allow("default", "a person answers");
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
