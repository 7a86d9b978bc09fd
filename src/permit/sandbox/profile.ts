/**
 * Within what a permitted command runs: a function of what the process may, of the settings and of what the command does. All it
 * asks the host is what lies in the writable roots. What is neither written nor shown here is the host, to be read.
 */
import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { Fault } from "../../abi/errors.ts";
import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { Decision, Permit, PermitRequest, Subject } from "../../kernel/ports/permit.ts";
import { isWithin } from "../../lib/path.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { isCertainText } from "../judge/exec.ts";
import { hardAsk, invalid, type Verdict } from "../judge/verdict.ts";
import { matchesPath } from "../rules/path-pattern.ts";
import { findProtection, type Protection } from "../rules/protected.ts";
import { parseRule } from "../rules/rule.ts";
import type { Analysis } from "../shell/analysis.ts";
import { type Classify, findSecondName, PlaceFinder } from "./places.ts";
import {
  freePlaces,
  gitPlaces,
  kindOf,
  patternsInRoots,
  placesInRoots,
  secretsInPlace,
  socketsIn,
} from "./protected.ts";
import { repositoryOf } from "./worktree.ts";
import { type NamedWrites, namedWrites } from "./writes.ts";

/** Of a person: user settings, or the policy. */
export interface SandboxSettings {
  readonly mode?: "on" | "off" | "required" | undefined;
  /** Commands that fit run unasked. */
  readonly autoAllow?: boolean | undefined;
  /** May a call ask to run outside? */
  readonly allowOptOut?: boolean | undefined;
  /** Rules; a command of which every part matches one runs outside. */
  readonly excluded?: readonly string[] | undefined;
  readonly denyRead?: readonly string[] | undefined;
  readonly allowWrite?: readonly string[] | undefined;
  readonly denyWrite?: readonly string[] | undefined;
  readonly network?: NetworkSettings | undefined;
}

export interface SandboxOptions {
  readonly settings: SandboxSettings;
  readonly rules: readonly RuleText[];
  readonly home: string;
  /** Of Crux itself. */
  readonly kernelPaths: readonly string[];
  /** Directories beside those of the process that it works in. */
  readonly added: readonly string[];
  readonly protections: readonly Protection[];
  readonly realPath: RealPath;
  readonly decide: Permit["decide"];
  /** What its text says. */
  readonly analyse: (effect: Extract<Effect, { kind: "exec" }>) => Analysis;
  /** Would the excluded commands alone allow it? Absent: nothing is excluded. */
  readonly decideExcluded?: Permit["decide"];
}

/** Where services of the host listen. */
const SOCKETS = ["/run", "/var/run", "/tmp/.X11-unix", "/tmp/.ICE-unix"];
/** Below the account's own folder. */
const OWN_SOCKETS = [".docker/run", ".colima", ".lima", ".rd", ".orbstack/run", ".1password", ".ssh/agent"];
/** There they lie among files that are needed. */
const WITH_SOCKETS = [".ssh", ".gnupg"];
/** What is not a file that is kept. Nor is the `/tmp` of the host: every command has one of its own. */
const NEVER_OPENED = ["/proc", "/sys", "/dev"];
/** More than so many names in one directory: the directory. */
const maxInOne = 32;

export function makeSandbox(options: SandboxOptions): Required<Pick<Permit, "sandbox" | "sandboxMode">> {
  const finder = new PlaceFinder(classify(options));
  return {
    sandboxMode: options.settings.mode ?? "on",
    sandbox: (subject, request) => {
      if (!request.effects.some(({ kind }) => kind === "exec")) return null;
      return isOutside(options, subject, request) ? null : profileOf(options, finder, subject, request);
    },
  };
}

/**
 * With `autoAllow`: what nothing but the mode asks of a command runs unasked, for it runs within. What is uncertain, what a rule
 * or a protected path asks, and what would run outside is asked as ever.
 */
export function autoAllowed(
  options: SandboxOptions,
  subject: Subject,
  request: PermitRequest,
  decision: Decision,
): Decision {
  if (options.settings.autoAllow !== true || decision.behavior !== "ask") return decision;
  if (decision.isHard === true || decision.reason.kind !== "mode") return decision;
  const isCommand = request.effects.every(({ kind }) => kind === "exec");
  if (!isCommand || isOutside(options, subject, request)) return decision;
  return { behavior: "allow", reason: { kind: "sandbox", detail: "sandbox.autoAllow" } };
}

/** A call that asks to run outside: INVALID where the settings do not let it, else a question that only a person answers. */
export function judgeOptOut({ allowOptOut }: SandboxSettings, effects: readonly Effect[]): Verdict | null {
  if (!effects.some(wantsOut)) return null;
  if (allowOptOut !== true)
    return invalid("dangerouslyDisableSandbox: the settings do not allow it (sandbox.allowOptOut)");
  const message = "it asks to run outside the sandbox, with the whole account";
  return hardAsk("sandbox", "outside the sandbox", message);
}

function isOutside(
  { settings, decideExcluded }: SandboxOptions,
  subject: Subject,
  request: PermitRequest,
): boolean {
  if (settings.mode === "off") return true;
  if (settings.allowOptOut === true && request.effects.some(wantsOut)) return true;
  return decideExcluded !== undefined && isWhollyByRule(decideExcluded(plainly(subject), request));
}

/** Of a call that was permitted: a person has answered for it. */
function wantsOut(effect: Effect): boolean {
  return effect.kind === "exec" && effect.unconfined === true;
}

/** Nothing but the excluded rules counts. */
function plainly({ pid, cwd, roots }: Subject): Subject {
  return { pid, mode: "default", cwd, roots, allowedDevices: null, grants: [] };
}

function isWhollyByRule(decision: Decision): boolean {
  if (decision.behavior !== "allow" || decision.reason.kind !== "rule") return false;
  return (decision.parts ?? []).every(({ behavior, why }) => behavior === "allow" && why.startsWith("rule "));
}

function profileOf(
  options: SandboxOptions,
  finder: PlaceFinder,
  subject: Subject,
  request: PermitRequest,
): SandboxProfile {
  const { settings, rules, home, kernelPaths, realPath, protections } = options;
  const bases = { home, cwd: subject.cwd };
  const paths = (texts: readonly string[] = []) => texts.flatMap((text) => placeOf(text, bases, realPath));
  const { isCertain, gives, places } = commandOf(options, subject, request);
  // of what cannot be read nobody knows what it wants with more
  const lifted = isCertain ? paths(settings.allowWrite) : [];
  const roots = writableRoots(options, subject, lifted);
  const isReader = isReadOnly(options, subject, request);
  const tmp = temporary(subject, [...options.added, ...lifted]);
  const found = roots.filter((root) => root !== tmp).flatMap((root) => finder.find(root));
  const isLifted = (path: string) => lifted.includes(path.replace(/\/$/, ""));
  const secrets = gathered(found.filter(({ kind }) => kind === "secret").map(({ path }) => path));
  const nested = found.flatMap(({ kind, path, isDirectory }) =>
    kind !== "protected" ? [] : isDirectory && path.endsWith("/.git") ? gitPlaces(path) : [path],
  );
  const own = roots.flatMap((root) => repositoryOf(root)?.gitDirs ?? []).flatMap(gitPlaces);
  const hide = [
    ...[...kernelPaths, ...SOCKETS, ...OWN_SOCKETS.map((name) => posix.join(home, name))].map(realPath),
    ...WITH_SOCKETS.flatMap((name) => socketsIn(realPath(posix.join(home, name)))),
    ...[...secretsInPlace(protections), ...secrets, ...deniedReads(options, bases)].filter(
      (p) => !isLifted(p),
    ),
    ...paths(settings.denyRead),
  ];
  const denied = [...paths(settings.denyWrite), ...(subject.programs ?? [])];
  const isShut = (place: string) => [...NEVER_OPENED, ...hide, ...denied].some((dir) => isWithin(dir, place));
  const opened = places.filter((place) => !isWithin(place, "/tmp") && !isShut(place));
  const write = isReader ? [] : [...roots, ...opened];
  const guarded = write.filter((root) => root !== tmp);
  const protect = [
    ...[...placesInRoots(protections, guarded), ...nested, ...own].filter((p) => !isLifted(p) && !gives(p)),
    ...patternsInRoots(protections, guarded).filter((p) => !gives(p)),
    ...denied.filter((dir) => write.some((root) => isWithin(root, dir))),
  ];
  checkNames([...hide, ...protect], write);
  return {
    write: [...new Set([...write, ...freePlaces(protections, write)])],
    protect: [...new Set(protect)],
    hide: [...new Set(hide)],
    // where the account's own folder, or what may only be read now, lies among temporary files: it is read as elsewhere
    show: [home, ...(write.length === 0 ? roots : [])].filter((path) => isWithin("/tmp", path)),
    ...(tmp === undefined ? {} : { tmp }),
    network: isCertain ? sandboxNetwork(settings.network ?? {}, rules, subject.rights) : "off",
  };
}

/** Its own folder, seen under a second name: so no part of it is hidden or protected. Not where it is worked in. */
function temporary({ free = [], roots, cwd }: Subject, more: readonly string[]): string | undefined {
  const [tmp] = free;
  if (tmp === undefined) return undefined;
  const isOver = (place: string) => isWithin(place, tmp) || isWithin(tmp, place);
  return [...roots, cwd, ...more].some(isOver) ? undefined : tmp;
}

/** What the command is known to do: places it names to write, within the rights of its process. */
function commandOf(
  { analyse, realPath, home }: SandboxOptions,
  { rights }: Subject,
  { effects }: PermitRequest,
): NamedWrites & { readonly isCertain: boolean } {
  const bounds = rights?.roots ?? null;
  const isOwn = (path: string) => bounds === null || bounds.some((bound) => isWithin(bound, path));
  const texts = effects.flatMap((effect) => (effect.kind === "exec" ? [analyse(effect)] : []));
  const all = texts.map((text) => namedWrites(text, { realPath, home, kindOf }));
  return {
    isCertain: texts.every(isCertainText),
    places: all.flatMap((each) => each.places).filter(isOwn),
    gives: (place) => all.some((each) => each.gives(place)),
  };
}

/** Nobody but a person lets a command change anything in mode plan: what is allowed there only reads. */
function isReadOnly({ decide }: SandboxOptions, subject: Subject, request: PermitRequest): boolean {
  const { rights, ...rest } = subject;
  const planning = { ...rest, mode: "plan" as const, grants: [] };
  const asked =
    rights === undefined ? planning : { ...planning, rights: { ...rights, mode: "plan" as const } };
  return decide(asked, request).behavior === "allow";
}

function writableRoots(
  { added }: SandboxOptions,
  { roots, cwd, free = [], rights }: Subject,
  lifted: readonly string[],
): readonly string[] {
  const bounds = rights?.roots ?? null;
  const own = [...(roots.length > 0 ? roots : [cwd]), ...added];
  const within = bounds === null ? own : own.filter((dir) => bounds.some((bound) => isWithin(bound, dir)));
  const repositories = within.flatMap((root) => repositoryOf(root)?.gitDirs ?? []);
  return [...within, ...free, ...repositories, ...lifted];
}

/** `x` below the working directory, `~/x`, `/x`; a last `/**` says the same. With other globs it names no place. */
function placeOf(
  text: string,
  { home, cwd }: { home: string; cwd: string },
  realPath: RealPath,
): readonly string[] {
  const plain = text.replace(/\/\*\*$/, "");
  if (/[*?[\]]/.test(plain) || plain === "") return [];
  const path = plain === "~" || plain.startsWith("~/") ? home + plain.slice(1) : posix.resolve(cwd, plain);
  return [realPath(path)];
}

/** Deny rules for reading that name one place outside the roots; others are matched where files are looked for. */
function deniedReads(
  { rules, realPath }: SandboxOptions,
  bases: { home: string; cwd: string },
): readonly string[] {
  return rules.flatMap(({ behavior, text }) => {
    const [, content] = /^(?:view|read)\((.+)\)$/i.exec(text) ?? [];
    if (behavior !== "deny" || content === undefined) return [];
    if (content.startsWith("//")) return placeOf(content.slice(1), bases, realPath);
    return content.startsWith("~/") ? placeOf(content, bases, realPath) : [];
  });
}

/** Names that the table or a deny rule knows at any depth. */
function classify({ protections, rules, settings, home }: SandboxOptions): Classify {
  const written = rules
    .filter((rule) => rule.behavior === "deny")
    .map((rule) => ({ ...rule, behavior: "deny" }) as const);
  const hidden = (settings.denyRead ?? []).map(
    (path) => ({ source: "userSettings", behavior: "deny", text: `view(${path})` }) as const,
  );
  const patterns = [...written, ...hidden].flatMap((rule) => {
    const { match } = parseRule(rule);
    return match.kind === "path" && match.access === "read" ? [match.pattern] : [];
  });
  const anywhere = protections.filter(({ base }) => base === null);
  return (path, isDirectory) => {
    const bases = { home, project: ancestorsOf(path) };
    if (patterns.some((pattern) => matchesPath(pattern, path, bases))) return "secret";
    if (findProtection(anywhere, "read", path) !== undefined) return "secret";
    const whole = isDirectory ? `${path}/x` : path;
    return findProtection(anywhere, "write", whole) !== undefined ? "protected" : null;
  };
}

/** A pattern of a project may begin at any root. */
function ancestorsOf(path: string): readonly string[] {
  const all: string[] = [];
  for (let dir = posix.dirname(path); dir !== posix.dirname(dir); dir = posix.dirname(dir)) all.push(dir);
  return all;
}

/** Many in one directory are hidden with it. */
function gathered(paths: readonly string[]): readonly string[] {
  const byDirectory = Map.groupBy(paths, (path) => posix.dirname(path));
  return [...byDirectory].flatMap(([dir, names]) => (names.length > maxInOne ? [dir] : names));
}

/** A mount covers one name of a file. */
function checkNames(paths: readonly string[], roots: readonly string[]): void {
  for (const path of paths) {
    const second = findSecondName(path, roots);
    if (second.kind === "none") continue;
    const other = second.kind === "name" ? second.path : "a name that was not found";
    const [old, fresh] = [path, `${path}.new`].map(shellWord);
    throw new Fault({
      code: "PERMISSION",
      message: `${path} is protected, and has a second name where the command may write: ${other}`,
      hint: `give it a file of its own: cp -p ${old} ${fresh} && mv ${fresh} ${old}`,
    });
  }
}

/** Which hosts commands may reach: what the settings allow, within what the process may, without what is denied. */
interface NetworkSettings {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

function sandboxNetwork(
  { allow = [], deny = [] }: NetworkSettings,
  rules: readonly RuleText[],
  rights: Rights | undefined,
): SandboxProfile["network"] {
  const hosts = rights?.hosts ?? null;
  const reached = hosts === null ? allow : allow.flatMap((rule) => within(rule, hosts));
  if (reached.length === 0) return "off";
  const refused = [...rules, ...(rights?.deny ?? [])].flatMap(hostOfDeny);
  return refused.includes("*") ? "off" : { allow: [...new Set(reached)], deny: [...deny, ...refused] };
}

/** The part of a rule that lies within the hosts; a port stays with it. */
function within(rule: string, hosts: readonly string[]): readonly string[] {
  const [, name = rule, port = ""] = /^(.*?)(:\d+)?$/.exec(rule) ?? [];
  return hosts.flatMap((host) => {
    if (covers(host, name)) return [rule];
    return covers(name, host) ? [host + port] : [];
  });
}

/** `*.h` takes what is below h, also `*.x.h`. */
function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.startsWith("*.") && name.endsWith(pattern.slice(1)) && name.length >= pattern.length;
}

/** `*`: a rule that refuses every host. */
function hostOfDeny({ behavior, text }: RuleText): readonly string[] {
  if (behavior !== "deny") return [];
  if (/^fetch$/i.test(text)) return ["*"];
  const [, host] = /^(?:fetch|webfetch)\(domain:([^)]+)\)$/i.exec(text) ?? [];
  return host === undefined ? [] : [host];
}
