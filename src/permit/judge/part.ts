/** Judges one simple command as it finally runs: by rules, by its reads and writes, and by the mode. */

import { posix } from "node:path";
import { plain, type Sentence } from "../../abi/sentence.ts";
import { pathProblem } from "../../lib/path-form.ts";
import { allowsCommand, hasSystemWrappers, restrictsCommand } from "../rules/command-match.ts";
import { isGivenBy, shown } from "../rules/paths.ts";
import { describeRule, type Rule, ruleSaid } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import { settingsWritten } from "../rules/settings-writer.ts";
import { shippedRefusal } from "../rules/shipped.ts";
import { suggestCommand } from "../rules/suggest.ts";
import { climbsBack, operandPath } from "../shell/operand-path.ts";
import type { ReadOperand } from "../shell/read/grammar.ts";
import { readOnlyOperands } from "../shell/read/read-only.ts";
import { isSystemProgram } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { cdTarget } from "../shell/where.ts";
import { globSpellings, programOf, shownArgv, textsOf, type Word } from "../shell/word.ts";
import type { Case } from "./case.ts";
import { restrictOperands } from "./operand.ts";
import type { PathAccess } from "./path.ts";
import { judgePath, restrictGlob, restrictPath } from "./path.ts";
import { judgeRedirects } from "./redirect.ts";
import { judgeUnknownPath } from "./unknown-path.ts";
import { judgeUnread } from "./unread.ts";
import { allow, ask, because, hardAsk, strictest, told, type Verdict } from "./verdict.ts";

interface Judged {
  readonly verdict: Verdict;
  /** The command is known to change nothing, whatever the rules say. */
  readonly isReadOnly: boolean;
}

/** The whole text passed to bash, and the working directory in which it starts. */
export interface WholeText {
  readonly text: string;
  readonly cwd: string;
}

export function judgePart(c: Case, part: Part, whole: WholeText): Judged {
  const redirects = judgeRedirects(c, part);
  const { verdict, isReadOnly } =
    part.unsure === null ? judgeKnown(c, part, whole) : judgeUnsure(c, part, whole);
  return {
    verdict: strictest([verdict, ...redirects.verdicts]),
    isReadOnly: isReadOnly && !redirects.writes,
  };
}

/**
 * Judges a part that could not be read in full: deny rules apply to the levels that could be read; the rest may be
 * anything.
 */
function judgeUnsure(c: Case, part: Part, { text, cwd }: WholeText): Judged {
  const restricted = restrictByRule(c, part, text);
  const operands = part.levels.map((argv) => restrictOperands(c, argv, part));
  const refused = [restricted, ...operands].filter(
    (each) => each?.behavior === "deny" && each.reason.kind !== "parse",
  );
  const why = part.unsure ?? "";
  const source = part.levels.length === 0 ? part.source : part.levels.map(shownArgv).join(" ");
  const unread = { text: source, cwd: part.cwds?.[0] ?? cwd, why, runsAnything: true };
  const verdict = judgeUnread(c, unread);
  return { verdict: strictest([verdict, ...refused.filter((each) => each !== null)]), isReadOnly: false };
}

function judgeKnown(c: Case, part: Part, { text, cwd }: WholeText): Judged {
  const { levels, evaluates } = part;
  const restricted = restrictByRule(c, part, text);
  const known = evaluates === null ? readVerdict(c, part) : null;
  const isReadOnly = known !== null;
  const judged = (verdict: Verdict): Judged => ({ verdict, isReadOnly });
  if (restricted?.behavior === "deny") return judged(restricted);
  if (levels.length === 0 && evaluates === null) return judged(allow("default", plain("starts_nothing")));
  const changed = known ?? (evaluates === null ? creationVerdict(c, part) : null);
  const restrictions = known === null ? levels.map((argv) => restrictOperands(c, argv, part)) : [];
  const operands = strictestOrNull([changed, ...restrictions, settingsVerdict(c, part)]);
  // a denied operand outranks a question about the command
  if (operands?.behavior === "deny") return judged(operands);
  if (restricted?.isHard === true) return judged(restricted);
  if (operands?.behavior === "ask" && operands.isHard) return judged(operands);
  const moved = c.subject.mode === "bypass" ? null : movedGit(c, part, cwd);
  if (moved !== null) return judged(moved);
  const rule = c.allow.find((each) => allowsCommand(each, part));
  if (rule !== undefined) return judged(allow("rule", ruleSaid(rule)));
  if (c.subject.mode === "bypass") return judged(allow("mode", { kind: "mode", mode: "bypass" }));
  if (restricted !== null) return judged(restricted);
  if (evaluates !== null) return judged(askEvaluated(part, evaluates));
  if (c.callRule !== undefined) return judged(allow("rule", ruleSaid(c.callRule)));
  if (changed !== null) return judged(changed);
  const { mode } = c.subject;
  const message: Sentence = { kind: "no_rule", what: lineOf(part), mode };
  return judged(ask(because("mode", { kind: "mode", mode }), message, suggestCommand(part)));
}

/** A program that writes its own settings writes a file that is not among its operands. */
function settingsVerdict(c: Case, { levels, isOpen, cwds }: Part): Verdict | null {
  for (const [i, argv] of levels.entries()) {
    const place = settingsWritten(argv, isOpen && i === levels.length - 1);
    if (place === null) continue;
    const path = place.startsWith("~/") ? c.places.home + place.slice(1) : place;
    const paths = (cwds ?? ["/"]).map((cwd) => operandPath(path.startsWith("/") ? "" : cwd, path));
    const refused = paths
      .map((each) => restrictPath(c, { access: "write", path: each }))
      .filter((each) => each !== null);
    const denied = refused.find(({ behavior }) => behavior === "deny");
    const message = `${lineOf({ levels: [argv], source: "" })}: it writes ${shown(place)}; no mode or rule answers for the user`;
    return denied ?? hardAsk("protected", `a program that writes its settings (${place})`, message);
  }
  return null;
}

function strictestOrNull(verdicts: readonly (Verdict | null)[]): Verdict | null {
  const found = verdicts.filter((verdict) => verdict !== null);
  return found.length === 0 ? null : strictest(found);
}

function askEvaluated(part: Part, why: string): Verdict {
  const detail = `bash evaluates it beyond what can be read: ${why}`;
  return ask({ kind: "parse", detail }, `${lineOf(part)}: ${detail}`, null);
}

function lineOf({ levels, source }: Pick<Part, "levels" | "source">): string {
  return shown(levels[0] === undefined ? source : shownArgv(levels[0]));
}

type Restriction = Exclude<Verdict, { behavior: "allow" }>;

/** What the rules say of a part depends on nothing else: the further judgements of one call need not ask them again. */
const ruled = new WeakMap<Part, { readonly rules: RuleSet; text: string; found: Restriction | null }>();

function restrictByRule({ rules }: Case, part: Part, text: string): Restriction | null {
  const known = ruled.get(part);
  if (known?.rules === rules && known.text === text) return known.found;
  const found = restrictionOf(rules, part, text);
  ruled.set(part, { rules, text, found });
  return found;
}

function restrictionOf(rules: RuleSet, part: Part, text: string): Restriction | null {
  const denies = rules.deny.map((rule) => ({ rule, match: restrictsCommand(rule, part, text) }));
  const denied = denies.find(({ match }) => match === "yes")?.rule;
  if (denied !== undefined) return refuse(denied, part);
  const asks = rules.ask.map((rule) => ({ rule, match: restrictsCommand(rule, part, text) }));
  const found = [...denies, ...asks].filter(({ match }) => match !== "no").map(({ rule }) => rule);
  const policy = found.find((rule) => rule.behavior === "deny" && rule.source === "policySettings");
  if (policy !== undefined) return refuse(policy, part);
  const rule = found.find(({ source }) => source !== "shipped") ?? found[0];
  if (rule === undefined) return null;
  const name = posix.basename(programOf(part.levels.at(-1) ?? []) ?? "");
  const command = lineOf(part);
  const said: Sentence =
    name === "rm"
      ? { kind: "removes", command }
      : { kind: "command_by_rule", command, rule: rule.text, source: rule.source };
  // a shipped ask is a default: the user's own rule for the command, or bypass, answers it
  return {
    behavior: "ask",
    isHard: rule.source !== "shipped",
    ...told(said),
    always: null,
    reason: reasonOf(rule),
  };
}

function refuse(rule: Rule, part: Part): Restriction {
  const program = rule.match.kind === "command" ? rule.match.name : "";
  const message =
    rule.source === "shipped"
      ? shippedRefusal(program)
      : `Permission denied: ${describeRule(rule)} refuses ${lineOf(part)}`;
  return { behavior: "deny", message, reason: reasonOf(rule) };
}

function reasonOf(rule: Rule) {
  return because("rule", ruleSaid(rule));
}

/** Judges the reads of a read-only command; null: the command is not known to be read-only. */
function readVerdict(c: Case, part: Part): Verdict | null {
  const argv = part.filled ?? part.levels.at(-1) ?? [];
  const name = posix.basename(programOf(argv) ?? "");
  if ((part.isOpen && part.filled === undefined) || part.acts || !hasSystemWrappers(part)) return null;
  if (part.levels.length === 0) return null;
  const cwds = part.cwds ?? [null];
  if (name === "cd") {
    const target = cdTarget(argv, c.places.home);
    return target === null ? null : everywhere(cwds, [{ path: target, subtree: false }], c);
  }
  const reads = readOnlyOperands(argv);
  if (reads === null) return null;
  const verdict = everywhere(cwds, reads, c);
  const foreign = name === "git" && verdict !== null ? cwds.map((cwd) => foreignVerdict(c, part, cwd)) : [];
  const found = [verdict, ...foreign].filter((each) => each !== null);
  if (verdict === null) return null;
  return found.length === 0 ? verdict : strictest(found);
}

/** null: a path depends on an unknown value. */
function everywhere(
  cwds: readonly (string | null)[],
  reads: readonly ReadOperand[],
  c: Case,
): Verdict | null {
  const verdicts: Verdict[] = [];
  for (const { path, subtree, glob } of reads) {
    if (path === null) {
      verdicts.push(judgeUnknownPath(c, "read"));
      continue;
    }
    if (climbsBack(glob ?? path) || pathProblem(path) !== null) return null;
    for (const cwd of path.startsWith("/") ? ["/"] : cwds) {
      if (cwd === null) return null;
      verdicts.push(judgePath(c, { access: "read", path: operandPath(cwd, path), subtree }));
      if (glob !== undefined) verdicts.push(...globVerdicts(c, operandPath(cwd, glob)));
    }
  }
  return verdicts.length === 0 ? allow("default", plain("changes_nothing")) : strictest(verdicts);
}

function globVerdicts(c: Case, glob: string): readonly Verdict[] {
  const restricted = restrictGlob(c, "read", glob);
  const named = globSpellings(glob).map((path) => judgePath(c, { access: "read", path }));
  return restricted === null ? named : [restricted, ...named];
}

const FOREIGN = { kind: "default", detail: "a repository that is not trusted" } as const;

/**
 * Every git command may start programs that the repository's configuration names; in the roots that file is protected,
 * elsewhere this asks.
 */
function foreignVerdict(c: Case, part: Part, cwd: string | null): Verdict | null {
  if (cwd === null) return null;
  const repository = findRepository(c.places.realPath(cwd), c.places.exists);
  if (repository === null || (!repository.isBare && isGivenBy(c.roots, repository.root))) return null;
  const why = repository.isBare ? "is not protected" : "lies outside the working directories";
  const message = `${lineOf(part)}: the repository ${shown(repository.root)} ${why}; its configuration can start programs`;
  return ask(FOREIGN, message, suggestCommand(part));
}

/**
 * Asks about git after a `cd` in the same text that left the roots or whose target is unknown: rules for git were not
 * meant for such places.
 */
function movedGit(c: Case, part: Part, cwd: string): Verdict | null {
  const { levels, cwds } = part;
  if (!levels.some((argv) => posix.basename(programOf(argv) ?? "") === "git")) return null;
  const start = c.places.realPath(cwd);
  const isOwn = (each: string) => each === start || isGivenBy(c.roots, c.places.realPath(each));
  const isBare = (each: string) => findRepository(c.places.realPath(each), c.places.exists)?.isBare === true;
  const isOut = cwds?.every(isOwn) !== true;
  if (!isOut && cwds?.some(isBare) !== true) return null;
  const where = isOut ? "a directory that is none of the working directories" : "a repository without .git";
  const message = `${lineOf(part)}: git in ${where}; its configuration can start programs`;
  return ask(FOREIGN, message, null);
}

/**
 * Judges commands that create folders, copies and empty files as writes; null: another command, or one that the mode
 * would ask about as a command.
 */
function creationVerdict(c: Case, part: Part): Verdict | null {
  if (part.isOpen || part.acts || !hasSystemWrappers(part)) return null;
  const verdicts: Verdict[] = [];
  for (const cwd of part.cwds ?? []) {
    const exists = (path: string) => c.places.exists(operandPath(cwd, path));
    const made = creations(part.levels.at(-1) ?? [], exists);
    if (made === null || made.some(({ path }) => climbsBack(path) || pathProblem(path) !== null)) return null;
    verdicts.push(...made.map((access) => judgePath(c, { ...access, path: operandPath(cwd, access.path) })));
  }
  if (verdicts.length === 0) return null;
  const verdict = strictest(verdicts);
  return verdict.behavior === "ask" && !verdict.isHard ? null : verdict;
}

/** Commands that create files, each with its known flags without a value. Other flags make the operands uncertain. */
const FLAGS: Readonly<Record<string, RegExp>> = {
  mkdir: /^(-[pv]+|--parents|--verbose)$/,
  touch: /^(-[acm]+|--no-create)$/,
  cp: /^(-[rRapvn]+|--recursive|--archive|--verbose|--no-clobber)$/,
  mv: /^(-[vn]+|--verbose|--no-clobber)$/,
};

/** The accesses of the command, with paths as written; null: not such a command. `exists` takes a path as written. */
function creations(argv: readonly Word[], exists: (path: string) => boolean): readonly PathAccess[] | null {
  const [path = "", ...args] = textsOf(argv) ?? [];
  const name = posix.basename(path);
  const flags = Object.hasOwn(FLAGS, name) && isSystemProgram(path) ? FLAGS[name] : undefined;
  if (flags === undefined) return null;
  const end = args.indexOf("--");
  const head = end < 0 ? args : args.slice(0, end);
  const given = head.filter((arg) => arg.startsWith("-"));
  const paths = [...head.filter((arg) => !arg.startsWith("-")), ...(end < 0 ? [] : args.slice(end + 1))];
  if (paths.length === 0 || paths.includes("") || !given.every((arg) => flags.test(arg))) return null;
  if (name === "mkdir" || name === "touch") return paths.map((each) => ({ access: "write", path: each }));
  const [from = "", to = "", extra] = paths;
  if (to === "" || extra !== undefined || exists(to)) return null;
  return copied(name, given, { from, to });
}

/** The accesses of copying or moving one file or folder to a free name. */
function copied(
  name: string,
  flags: readonly string[],
  { from, to }: Readonly<Record<"from" | "to", string>>,
) {
  const isDeep = flags.some((flag) => /^-[^-]*[rRa]|^--(?:r|a)/.test(flag));
  const read: PathAccess = { access: "read", path: from, subtree: isDeep || name === "mv" };
  const taken: PathAccess = { access: "write", path: from, replaces: true };
  return [read, ...(name === "mv" ? [taken] : []), { access: "write", path: to } as const];
}

/** The repository that git would work in; even `git status` starts programs that its configuration names. */
interface Repository {
  readonly root: string;
  /** The path of its configuration contains no `.git`, so no protected path covers it. */
  readonly isBare: boolean;
}

/**
 * Searches upwards from a resolved directory, as git does; null: no repository. It also searches where git might stop,
 * and any directory with a HEAD counts: the other parts may lie elsewhere.
 */
export function findRepository(dir: string, exists: (path: string) => boolean): Repository | null {
  for (let at = dir; ; at = posix.dirname(at)) {
    if (exists(posix.join(at, ".git"))) return { root: at, isBare: false };
    if (exists(posix.join(at, "HEAD"))) return { root: at, isBare: posix.basename(at) !== ".git" };
    // ends for relative paths too: no input may keep the daemon in this loop
    if (at === posix.dirname(at)) return null;
  }
}
