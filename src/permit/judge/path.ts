/** Judges reads and writes of paths. */

import { posix } from "node:path";
import { plain, type Sentence } from "../../abi/sentence.ts";
import { pathProblem } from "../../lib/path-form.ts";
import { escapeGlob } from "../rules/glob.ts";
import { looseGlob, meet, tokensOf } from "../rules/glob-meet.ts";
import { acceptsEdits } from "../rules/mode.ts";
import {
  matchesAsWritten,
  matchesPath,
  mayMatchBelow,
  type PathBases,
  type PathPattern,
} from "../rules/path-pattern.ts";
import {
  foldName,
  isGivenBy,
  isInside,
  isInsideAny,
  segmentsOf,
  shown,
  writtenPath,
} from "../rules/paths.ts";
import { findProtection, findProtectionBelow, findProtectionOfGlob, resolved } from "../rules/protected.ts";
import { describeRule, type Rule, ruleSaid } from "../rules/rule.ts";
import { literalStart } from "../shell/spelling.ts";
import { agentNotes, type Case, formsOf, ownNotes } from "./case.ts";
import { beyondMemory, beyondNotes, beyondRoots, beyondWalls } from "./ceiling.ts";
import { allow, ask, because, deny, hardAsk, invalid, type Verdict } from "./verdict.ts";

export interface PathAccess {
  readonly access: "read" | "write";
  readonly path: string;
  /** The resolved path; absent: it is resolved here. */
  readonly real?: string | undefined;
  /** The read includes everything below the path. */
  readonly subtree?: boolean | undefined;
  /** An existing file is changed or removed; for a directory, with all its content. */
  readonly replaces?: boolean | undefined;
  /** An unknown command names the path and may or may not access it. */
  readonly isGuess?: boolean | undefined;
}

interface ResolvedAccess extends PathAccess {
  readonly real: string;
  /** The path as written and as resolved. */
  readonly forms: readonly string[];
}

function resolvedAccess(c: Case, wanted: PathAccess): ResolvedAccess {
  const { path, real = c.places.realPath(path) } = wanted;
  return { ...wanted, real, forms: formsOf(path, real) };
}

export function judgePath(c: Case, wanted: PathAccess): Verdict {
  const problem = pathProblem(wanted.path);
  if (problem !== null) return invalid(`${problem}: ${shown(wanted.path)}`);
  const resolved = resolvedAccess(c, wanted);
  return restrictResolved(c, resolved) ?? permitPath(c, resolved);
}

/** Checks only restrictions: kernel paths, the ceiling, deny and ask rules, protected paths. null: no restriction. */
export function restrictPath(c: Case, wanted: PathAccess): Verdict | null {
  return restrictResolved(c, resolvedAccess(c, wanted));
}

function restrictResolved(c: Case, wanted: ResolvedAccess): Verdict | null {
  return (
    restrictUnresolved(wanted) ??
    beyondWalls(c, { ...wanted, subtree: wanted.subtree ?? wanted.replaces }, wanted.forms) ??
    beyondMemory(c, { ...wanted, subtree: wanted.subtree ?? wanted.replaces }, wanted.forms) ??
    restrictKernelPath(c, wanted) ??
    restrictLinks(c, wanted) ??
    beyondNotes(c, wanted.path, wanted.real) ??
    beyondRoots(c, wanted.path, wanted.real) ??
    restrictByRule(c, wanted) ??
    restrictProtected(c, wanted) ??
    restrictOtherNames(c, wanted)
  );
}

/** System links that lead to whatever a process has open; the target of one that was not resolved is unknown. */
const LIVE_LINK =
  /^(?:\/proc\/[^/]+(?:\/task\/[^/]+)?\/(?:root|cwd|fd|exe|map_files)|\/dev\/(?:fd|stdin|stdout|stderr))(?:\/|$)/;

function restrictUnresolved({ path, forms, isGuess }: ResolvedAccess): Verdict | null {
  if (!forms.every((form) => LIVE_LINK.test(form)) || isGuess === true) return null;
  return deny("protected", `${shown(path)} leads to what a process has open, and cannot be resolved`);
}

/** A hard link to a protected file is protected as well; one to a file of Crux itself may not be read either. */
function restrictOtherNames(c: Case, wanted: ResolvedAccess): Verdict | null {
  if (wanted.isGuess === true) return null;
  const path = wanted.forms.at(-1) ?? wanted.path;
  const ofKernel = () => (c.places.isKernelFile(path) ? "kernel" : "none");
  const found = wanted.access === "read" ? ofKernel() : c.places.otherNames(path, c.roots);
  if (found === "kernel")
    return deny("protected", `${shown(wanted.path)} is a file of crux itself under another name`);
  return found === "none" ? null : protectedAsk(wanted, "a protected path under another name (hard link)");
}

function restrictKernelPath(c: Case, wanted: ResolvedAccess): Verdict | null {
  const { kernel } = c.places;
  const { forms } = wanted;
  if (forms.some((form) => isInsideAny(kernel, form) && !isFree(c, wanted, form)))
    return deny("protected", `${shown(wanted.path)} belongs to crux itself; no mode or rule opens it`);
  const holds = kernel.some((path) => forms.some((form) => isInside(form, path)));
  if (holds && wanted.replaces === true)
    return deny("protected", `${shown(wanted.path)} holds files of crux itself; no mode or rule opens them`);
  if (holds && wanted.subtree === true)
    return hardAsk(
      "protected",
      "the directory holds files of crux itself",
      `${shown(wanted.path)} holds files of crux itself; name a narrower directory`,
    );
  return null;
}

/** Other agents may have put links into the folder that they share: none is followed, whether or not it leads outside. */
function restrictLinks({ shared }: Case, { path, forms }: ResolvedAccess): Verdict | null {
  const [written = path, real] = forms;
  if (shared === null || real === undefined || !isInside(shared, written)) return null;
  return deny("protected", `${shown(path)} is reached by a link: the scratchpad has no links`);
}

/** The content of the process's own folder may be changed and removed, but not the folder itself. */
function isFree({ free }: Case, { replaces }: PathAccess, form: string): boolean {
  return isInsideAny(free, form) && !(replaces === true && free.includes(form));
}

/**
 * Checks only paths that the call names; see the table in rules/protected.ts. A guess asks about secrets, not about
 * what the command might change.
 */
function restrictProtected(c: Case, wanted: ResolvedAccess): Verdict | null {
  const { protections } = c.places;
  if (wanted.isGuess === true && wanted.access === "write") return null;
  const judged = wanted.forms.filter((form) => !isFree(c, wanted, form));
  for (const form of judged) {
    const found = findProtection(protections, wanted.access, form);
    if (found !== undefined) return protectedAsk(wanted, `a protected path (${found.kind})`);
    if (wanted.access === "write" && isProgramPlace(c, posix.dirname(form)))
      return protectedAsk(wanted, "commands are looked for there (PATH)");
    if (wanted.access === "write" && c.places.isGitProgram(form, wanted.replaces === true))
      return protectedAsk(wanted, "git runs it, or reads settings from it (its configuration)");
  }
  if (wanted.replaces !== true) return null;
  const held = judged
    .map((form) => findProtectionBelow(protections, form))
    .find((each) => each !== undefined);
  return held === undefined ? null : protectedAsk(wanted, `it may hold protected paths (${held.kind})`);
}

/** Checks whether a pattern of paths may match a protected path; `glob` is absolute. null: it cannot. */
export function restrictGlob(c: Case, access: "read" | "write", glob: string): Verdict | null {
  const start = literalStart(glob);
  const dir = start.slice(0, start.lastIndexOf("/") + 1) || "/";
  const real = `${c.places.realPath(dir)}/${glob.slice(dir.length)}`;
  const wanted: PathAccess = { access, path: glob };
  for (const form of formsOf(glob, real).filter((each) => !isInsideAny(c.free, each))) {
    const found = findProtectionOfGlob(c.places.protections, access, form);
    if (found !== undefined) return protectedAsk(wanted, `it may come to a protected path (${found.kind})`);
    if (c.places.kernel.some((path) => mayReach(form, path)))
      return protectedAsk(wanted, "it may come to files of crux itself");
  }
  return null;
}

/** Whether the pattern may match the path or something below it. */
function mayReach(glob: string, path: string): boolean {
  const segments = segmentsOf(glob);
  const names = segmentsOf(path);
  return (
    segments.length >= names.length &&
    names.every((name, i) => meet(looseGlob(segments[i] as string), tokensOf(foldName(name))) !== null)
  );
}

/** A new file in a PATH directory would run in place of a command that is allowed by its name. */
function isProgramPlace({ subject, places }: Case, dir: string): boolean {
  const { programs = [] } = subject;
  return programs.some((each) => formsOf(each, resolved(each, places.realPath)).includes(dir));
}

function protectedAsk(wanted: PathAccess, why: string): Verdict {
  return hardAsk("protected", why, { kind: "protected", ...accessOf(wanted), why });
}

function restrictByRule(c: Case, wanted: ResolvedAccess): Verdict | null {
  const denied = c.rules.deny.find((rule) => covers(c, rule, wanted));
  if (denied !== undefined) return deny("rule", `${describeRule(denied)} refuses ${shown(wanted.path)}`);
  const asked = c.rules.ask.find((rule) => covers(c, rule, wanted));
  if (asked !== undefined)
    return hardAsk("rule", ruleSaid(asked), {
      kind: "path_by_rule",
      ...accessOf(wanted),
      rule: asked.text,
      source: asked.source,
    });
  if (wanted.subtree !== true) return null;
  const below = [...c.rules.deny, ...c.rules.ask].find((rule) => mayCoverBelow(c, rule, wanted));
  if (below === undefined) return null;
  const message = `${what(wanted)}: it may hold files that ${describeRule(below)} guards; name a narrower directory`;
  return hardAsk("rule", ruleSaid(below), message);
}

function covers(c: Case, rule: Rule, wanted: ResolvedAccess): boolean {
  return meetings(c, rule, wanted).some((at) => matchesPath(...at));
}

function mayCoverBelow(c: Case, rule: Rule, wanted: ResolvedAccess): boolean {
  return meetings(c, rule, wanted).some((at) => mayMatchBelow(...at));
}

/**
 * The forms that the pattern of a deny or ask rule is compared with: the path as written and resolved and, where the
 * volume ignores case in names, also with its case folded.
 */
function* meetings(
  { generousBases, places }: Case,
  { match }: Rule,
  { access, forms }: ResolvedAccess,
): Generator<[PathPattern, string, PathBases]> {
  if (match.kind !== "path" || match.access !== access) return;
  for (const form of forms) yield [match.pattern, form, generousBases];
  if (!places.foldsNames) return;
  const bases = { home: foldName(generousBases.home), project: generousBases.project.map(foldName) };
  for (const form of forms) yield [match.folded, foldName(form), bases];
}

function permitPath(c: Case, wanted: ResolvedAccess): Verdict {
  const { match: ruleMatch = undefined, text = "" } = c.allow.find((rule) => allows(c, rule, wanted)) ?? {};
  if (ruleMatch !== undefined) return allow("rule", `rule ${text}`);
  if (c.callRule !== undefined) return allow("rule", ruleSaid(c.callRule));
  const { mode } = c.subject;
  const isIn = (dirs: readonly string[]) => [wanted.path, wanted.real].every((form) => isGivenBy(dirs, form));
  if (mode === "bypass") return allow("mode", { kind: "mode", mode });
  if (isIn(c.free)) return allow("default", plain("own_folder"));
  const isInRoots = isIn([...c.roots, ...c.free]);
  if (wanted.access === "read" && isInRoots) return allow("mode", plain("read_inside"));
  if (isIn(c.places.ownMemory) && isOfNotes(wanted) && !isOfOthers(c, wanted))
    return allow("default", plain("own_memory"));
  if (wanted.access === "read" && isIn(c.places.skills)) return allow("default", plain("skill_file"));
  if (wanted.access === "write" && isInRoots && acceptsEdits(mode))
    return allow("mode", { kind: "mode", mode });
  const message: Sentence = { kind: "access", ...accessOf(wanted), isOutside: !isInRoots, mode };
  return ask(because("mode", { kind: "mode", mode }), message, suggestPath(wanted));
}

/** Memory is notes: nothing else is written there unasked, and no folder is removed. */
function isOfNotes({ access, forms }: ResolvedAccess): boolean {
  return access === "read" || forms.every((form) => form.endsWith(".md"));
}

/** The notes of another agent. */
function isOfOthers(c: Case, { forms, path, real }: ResolvedAccess): boolean {
  const [all, own] = [agentNotes(c.places.ownMemory), ownNotes(c)];
  const isOwn = [path, real].every((form) => isGivenBy(own, form));
  return !isOwn && forms.some((form) => isInsideAny(all, form));
}

function allows(c: Case, { match }: Rule, { access, path, real }: ResolvedAccess): boolean {
  if (match.kind !== "path" || match.access !== access) return false;
  // compared in their own characters: `forms` are in Unicode's composed form
  return [path, real].every((form) => matchesAsWritten(match.pattern, form, c.bases));
}

function what({ access, path }: PathAccess): string {
  return `${access} ${shown(path)}`;
}

function accessOf({ access, path }: PathAccess): Pick<PathAccess, "access" | "path"> {
  return { access, path: shown(path) };
}

/**
 * A rule for exactly this path, from the host root. null where a symlink makes two paths of it: the rule would have to
 * name both.
 */
function suggestPath({ access, path: given, forms }: ResolvedAccess): string | null {
  const [path, other] = [writtenPath(given), forms[1]];
  if (other !== undefined || /\p{Cc}|\p{Cf}/u.test(path)) return null;
  const content = escapeGlob(path).replace(/[()]/g, "\\$&");
  const rule = `${access === "read" ? "view" : "edit"}(/${content})`;
  return rule.length <= 1024 && !path.includes("\\") ? rule : null;
}
