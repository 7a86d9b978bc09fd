/**
 * What the sandbox hides because a rule refuses that it is read: rules of the settings, and those of the process itself, from its
 * command line, its agent file or a process above it. A rule with a fixed place is that place; the others are matched where files
 * are searched for.
 */
import { posix } from "node:path";
import type { RuleText } from "../../abi/rules.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import { matchesPath, type PathPattern } from "../rules/path-pattern.ts";
import { findProtection, type Protection } from "../rules/protected.ts";
import { parseRule } from "../rules/rule.ts";
import { type Classify, PlaceFinder } from "./places.ts";

interface ReadRule {
  /** The content of the rule. */
  readonly path: string;
  readonly pattern: PathPattern;
}

export interface Refused {
  readonly rules: readonly ReadRule[];
  readonly finder: PlaceFinder;
}

interface Ground {
  readonly rules: readonly RuleText[];
  readonly settings: { readonly denyRead?: readonly string[] | undefined };
  readonly protections: readonly Protection[];
  readonly home: string;
}

/** Bound on the sets of rules with a search of their own; beyond it the oldest is made anew when it is needed. */
const maxSets = 8;

export class DeniedReads {
  readonly #ground: Ground;
  readonly #settings: readonly ReadRule[];
  /** By the process's own rules for reading. */
  readonly #known = new Map<string, Refused>();
  /** The same, by the rules themselves: they are parsed once. */
  readonly #byRights = new WeakMap<readonly RuleText[], readonly ReadRule[]>();

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#settings = ground.rules.filter(({ behavior }) => behavior === "deny").flatMap(readRuleOf);
  }

  of({ rights }: Pick<Subject, "rights">): Refused {
    const own = rights === undefined ? [] : this.#own(rights.deny);
    const key = JSON.stringify(own.map(({ path }) => path).sort());
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const rules = [...this.#settings, ...own];
    const made = { rules, finder: new PlaceFinder(classify(this.#ground, rules)) };
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= maxSets) this.#known.delete(oldest);
    this.#known.set(key, made);
    return made;
  }

  #own(denied: readonly RuleText[]): readonly ReadRule[] {
    const known = this.#byRights.get(denied);
    if (known !== undefined) return known;
    const own = denied.flatMap(readRuleOf);
    this.#byRights.set(denied, own);
    return own;
  }
}

function readRuleOf(rule: RuleText): readonly ReadRule[] {
  const { match } = parseRule({ ...rule, behavior: "deny" });
  if (match.kind !== "path" || match.access !== "read") return [];
  const [, path = ""] = /\((.+)\)\s*$/.exec(rule.text) ?? [];
  return [{ path: path.trim().replace(/\\([()])/g, "$1"), pattern: match.pattern }];
}

interface Bases {
  readonly home: string;
  readonly cwd: string;
}

/** The places of the rules that have a fixed one. */
export function fixedPlaces(rules: readonly ReadRule[], bases: Bases, realPath: RealPath): readonly string[] {
  return rules.flatMap(({ path }) => {
    if (path.startsWith("//")) return placeOf(path.slice(1), bases, realPath);
    return path.startsWith("~/") ? placeOf(path, bases, realPath) : [];
  });
}

/**
 * The place of a setting: `x` below the working directory, `~/x`, `/x`; a trailing `/**` changes nothing. Empty with
 * other globs.
 */
export function placeOf(text: string, { home, cwd }: Bases, realPath: RealPath): readonly string[] {
  const plain = text.replace(/\/\*\*$/, "");
  if (/[*?[\]]/.test(plain) || plain === "") return [];
  const path = plain === "~" || plain.startsWith("~/") ? home + plain.slice(1) : posix.resolve(cwd, plain);
  return [realPath(path)];
}

/** Classifies names that the table or a rule matches at any depth. */
function classify({ protections, settings, home }: Ground, rules: readonly ReadRule[]): Classify {
  const hidden = (settings.denyRead ?? []).flatMap((path) =>
    readRuleOf({ source: "userSettings", behavior: "deny", text: `view(${path})` }),
  );
  const patterns = [...rules, ...hidden].map(({ pattern }) => pattern);
  const anywhere = protections.filter(({ base }) => base === null);
  return (path, isDirectory) => {
    const bases = { home, project: ancestorsOf(path) };
    if (patterns.some((pattern) => matchesPath(pattern, path, bases))) return "secret";
    if (findProtection(anywhere, "read", path) !== undefined) return "secret";
    const whole = isDirectory ? `${path}/x` : path;
    return findProtection(anywhere, "write", whole) !== undefined ? "protected" : null;
  };
}

/** The directories above the path: a project pattern may begin at any root. */
function ancestorsOf(path: string): readonly string[] {
  const all: string[] = [];
  for (let dir = posix.dirname(path); dir !== posix.dirname(dir); dir = posix.dirname(dir)) all.push(dir);
  return all;
}
