/**
 * The sandbox in which a permitted command runs: a function of the rights of the process, of the settings and of what
 * the command does. It asks the host only for the content of the writable roots. Places that the profile does not
 * mention are the host's, read-only.
 */

import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { Fault } from "../../abi/errors.ts";
import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { plain } from "../../abi/sentence.ts";
import type { Confinement } from "../../abi/surroundings.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { Decision, Permit, PermitRequest, Subject } from "../../kernel/ports/permit.ts";
import { isWithin } from "../../lib/path.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { freeOf } from "../judge/case.ts";
import { isCertainText } from "../judge/exec.ts";
import { hardAsk, invalid, type Verdict } from "../judge/verdict.ts";
import { gitPrograms, separateGitDir } from "../rules/git-programs.ts";
import { type Protection, protections } from "../rules/protected.ts";
import type { Analysis } from "../shell/analysis.ts";
import { DeniedReads, fixedPlaces, placeOf, type Refused } from "./denied-reads.ts";
import { findSecondName } from "./places.ts";
import {
  boundSockets,
  freePlaces,
  gitDirsIn,
  gitPlaces,
  holdsOnlySockets,
  kindOf,
  patternsInRoots,
  placesInRoots,
  secretsInPlace,
  socketsIn,
} from "./protected.ts";
import { repositoryOf } from "./worktree.ts";
import { type NamedWrites, namedWrites } from "./writes.ts";

/** From user settings or the policy, never from a project. */
export interface SandboxSettings {
  readonly mode?: "on" | "off" | "required" | undefined;
  /** Sandboxed commands run without a question. */
  readonly autoAllow?: boolean | undefined;
  /** Whether a call may ask to run outside the sandbox. */
  readonly allowOptOut?: boolean | undefined;
  /** Rules; a command whose parts all match one runs outside the sandbox. */
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
  /** Paths of Crux itself. */
  readonly kernelPaths: readonly string[];
  /** Folders of notes, closed where memory is off. */
  readonly memory: readonly string[];
  /** Additional working directories from the settings. */
  readonly added: readonly string[];
  readonly protections: readonly Protection[];
  readonly realPath: RealPath;
  readonly decide: Permit["decide"];
  /** The analysis of the command text. */
  readonly analyse: (effect: Extract<Effect, { kind: "exec" }>) => Analysis;
  /** The decision by the excluded commands alone; absent: nothing is excluded. */
  readonly decideExcluded?: Permit["decide"];
}

/** Directories with sockets of the host's services. */
const SOCKETS = ["/run", "/var/run", "/tmp/.X11-unix", "/tmp/.ICE-unix"];
/** Directories with sockets below the home directory. */
const OWN_SOCKETS = [".docker/run", ".colima", ".lima", ".rd", ".orbstack/run", ".1password", ".ssh/agent"];
/** Directories below the home directory that hold both sockets and needed files: only the sockets are hidden. */
const WITH_SOCKETS = [".ssh", ".gnupg"];
/**
 * Places without stored files; they are never opened for writing. Neither is the `/tmp` of the host: every command has
 * its own.
 */
const NEVER_OPENED = ["/proc", "/sys", "/dev"];
/** If more names than this in one directory are hidden, the directory is hidden instead. */
const maxInOne = 32;
/** As many as are hidden by themselves where the directory cannot be. */
const maxInOpen = 200;

type Sandboxing = Required<Pick<Permit, "sandbox" | "sandboxMode" | "confinement">>;

export function makeSandbox(options: SandboxOptions): Sandboxing {
  const reads = new DeniedReads(options);
  return {
    sandboxMode: options.settings.mode ?? "on",
    confinement: (subject) => (options.settings.mode === "off" ? null : confinementOf(options, subject)),
    sandbox: (subject, request) => {
      if (!request.effects.some(({ kind }) => kind === "exec")) return null;
      if (isOutside(options, subject, request)) return null;
      // the places of one profile are looked up at one moment
      const realPath = options.realPath.atOnce?.() ?? options.realPath;
      return profileOf({ ...options, realPath }, reads.of(subject), subject, request);
    },
  };
}

/**
 * With `autoAllow`, a sandboxed command about which only the mode would ask runs without a question. Uncertain
 * commands, questions from a rule or a protected path, and commands outside the sandbox still ask.
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

/**
 * Judges a call that asks to run outside the sandbox: INVALID if the settings do not allow it, else a question that
 * only the user can answer.
 */
export function judgeOptOut({ allowOptOut }: SandboxSettings, effects: readonly Effect[]): Verdict | null {
  if (!effects.some(wantsOut)) return null;
  if (allowOptOut !== true)
    return invalid("dangerouslyDisableSandbox: the settings do not allow it (sandbox.allowOptOut)");
  return hardAsk("sandbox", "outside the sandbox", plain("wants_out"));
}

function isOutside(
  { settings, decideExcluded }: SandboxOptions,
  subject: Subject,
  request: PermitRequest,
): boolean {
  if (settings.mode === "off") return true;
  // what holds a process to its worktree is the sandbox: nothing runs outside of it
  if ((subject.rights?.walls ?? []).length > 0) return false;
  if (settings.allowOptOut === true && request.effects.some(wantsOut)) return true;
  return decideExcluded !== undefined && isWhollyByRule(decideExcluded(plainly(subject), request));
}

/** Whether the call asks to run outside; for a permitted call, the user has agreed to it. */
function wantsOut(effect: Effect): boolean {
  return effect.kind === "exec" && effect.unconfined === true;
}

/** The subject without grants and modes: only the excluded rules count. */
function plainly({ pid, cwd, roots }: Subject): Subject {
  return { pid, mode: "default", cwd, roots, allowedDevices: null, grants: [] };
}

function isWhollyByRule(decision: Decision): boolean {
  if (decision.behavior !== "allow" || decision.reason.kind !== "rule") return false;
  return (decision.parts ?? []).every(({ behavior, why }) => behavior === "allow" && why.startsWith("rule "));
}

function profileOf(
  options: SandboxOptions,
  { rules: refused, finder }: Refused,
  subject: Subject,
  request: PermitRequest,
): SandboxProfile {
  const { settings, rules, home, realPath, protections } = options;
  const bases = { home, cwd: subject.cwd };
  const paths = (texts: readonly string[] = []) => texts.flatMap((text) => placeOf(text, bases, realPath));
  const { isCertain, gives, places } = commandOf(options, subject, request);
  // a command that cannot be read in full gets no additional places
  const lifted = isCertain ? paths(settings.allowWrite) : [];
  const roots = writableRoots(options, subject, lifted);
  const isReader = isReadOnly(options, subject, request);
  const tmp = temporary(subject, [...options.added, ...lifted]);
  const walls = subject.rights?.walls ?? [];
  const gitDirs = roots.flatMap((root) => repositoryOf(root)?.gitDirs ?? []);
  // of the git directory of a worktree, gitPlaces() says what is protected: git writes to the rest of it
  const isGit = (root: string) => gitDirs.some((dir) => isWithin(dir, root));
  const isOwn = (root: string) => root === tmp || root === subject.shared;
  const found = roots.filter((root) => !isOwn(root) && !isGit(root)).flatMap((root) => finder.find(root));
  const isLifted = (path: string) => lifted.includes(path.replace(/\/$/, ""));
  const all = found.filter(({ kind }) => kind === "secret").map(({ path }) => path);
  const secrets = gathered(all, [...roots, subject.cwd]);
  const nested = found.filter(({ kind }) => kind === "protected").flatMap(placesOf);
  const closed = closedPlaces(options);
  const hide = [
    ...closed,
    ...[
      ...secretsInPlace(protections),
      ...secrets,
      ...fixedPlaces(refused, bases, realPath),
      ...gathered(socketsBeside(closed, [home, ...roots, ...lifted], realPath), [...roots, subject.cwd]),
    ].filter((p) => !isLifted(p)),
    ...paths(settings.denyRead),
    ...walls.map(({ dir }) => dir),
    ...(subject.rights?.noMemory === true ? options.memory : []),
  ];
  const denied = [...paths(settings.denyWrite), ...(subject.programs ?? [])];
  const isShut = (place: string) => [...NEVER_OPENED, ...hide, ...denied].some((dir) => isWithin(dir, place));
  const opened = places.filter((place) => !isWithin(place, "/tmp") && !isShut(place));
  // what the agents of a session share may be written in every mode: so a command that does just that passes for one that reads
  const shares = (root: string) => root === subject.shared && places.some((place) => isWithin(root, place));
  const write = isReader ? roots.filter(shares) : [...roots, ...opened];
  const guarded = write.filter((root) => !isOwn(root) && !isGit(root));
  // also one whose `.git` is a link or a file: what that leads to may lie in a working directory
  const marks = found.filter(({ path }) => posix.basename(path) === ".git");
  const repositories = [...guarded, ...marks.map(({ path }) => posix.dirname(path))];
  const runByGit = isReader ? [] : repositories.flatMap((root) => gitPrograms(root, home));
  const separate = repositories
    .flatMap((root) => separateGitDir(root) ?? [])
    .filter((at) => write.some((root) => isWithin(root, at)));
  const steps = isReader ? [] : [...gitDirsIn(repositories), ...gitDirs, ...separate];
  const protect = [
    ...[
      ...placesInRoots(protections, guarded),
      ...nested,
      ...[...gitDirs, ...separate].flatMap(gitPlaces),
    ].filter((p) => !isLifted(p) && !gives(p)),
    ...patternsInRoots(protections, guarded).filter((p) => !gives(p)),
    ...runByGit.filter((p) => write.some((root) => isWithin(root, p)) && !isLifted(p) && !gives(p)),
    ...denied.filter((dir) => write.some((root) => isWithin(root, dir))),
  ];
  checkNames([...hide, ...protect], write);
  return {
    write: [...new Set([...write, ...freePlaces(protections, write)])],
    protect: [...new Set(protect)],
    hide: [...new Set(hide)],
    // the home directory, and roots that are now read-only, would be hidden by the command's own /tmp if they lie there
    show: [
      ...[home, ...(isReader ? roots : [])].filter((path) => isWithin("/tmp", path)),
      ...(isReader ? roots : []).filter((root) => root === subject.shared && !write.includes(root)),
      ...walls.flatMap(({ open, gitDir }) => [open, gitDir]).filter((path) => !write.includes(path)),
    ],
    ...(tmp === undefined ? {} : { tmp }),
    ...(steps.length === 0 ? {} : { gitDirs: [...new Set(steps)] }),
    network: isCertain ? sandboxNetwork(settings.network ?? {}, rules, subject.rights) : "off",
  };
}

const placesOf = ({ path, isDirectory }: { path: string; isDirectory: boolean }) =>
  isDirectory && path.endsWith("/.git") ? gitPlaces(path) : [path];

type Closing = Pick<SandboxOptions, "home" | "kernelPaths" | "realPath">;

/**
 * The sockets of other services in all other places. Of the host's `/tmp` only the `open` places are seen. A folder in which several are,
 * and nothing else, is one where they come and go, also while mounts are made: it takes their place, unless something in it is open.
 */
function socketsBeside(closed: readonly string[], open: readonly string[], realPath: RealPath) {
  const isIn = (places: readonly string[], path: string) => places.some((place) => isWithin(place, path));
  const paths = boundSockets()
    .map(realPath)
    .filter((path) => !isIn(closed, path) && (!isWithin("/tmp", path) || isIn(open, path)));
  return [...Map.groupBy(paths, posix.dirname)].flatMap(([dir, sockets]) => {
    const isWhole =
      sockets.length > 1 && !open.some((place) => isWithin(dir, place)) && holdsOnlySockets(dir);
    return isWhole ? [dir] : sockets;
  });
}

/** The files of Crux itself, and the sockets of other services. */
function closedPlaces({ home, kernelPaths, realPath }: Closing): readonly string[] {
  return [
    ...[...kernelPaths, ...SOCKETS, ...OWN_SOCKETS.map((name) => posix.join(home, name))].map(realPath),
    ...WITH_SOCKETS.flatMap((name) => socketsIn(realPath(posix.join(home, name)))),
  ];
}

/** What a program of the daemon's own is not shown in its sandbox: that, and the secrets with a fixed place. */
export function closedToHelpers(closing: Closing): readonly string[] {
  const closed = closedPlaces(closing);
  return [
    ...closed,
    ...socketsBeside(closed, [closing.home], closing.realPath),
    ...secretsInPlace(protections(closing.home, closing.realPath)),
  ];
}

/**
 * The process's own folder, which is mounted a second time as /tmp: so no part of it is hidden or protected. undefined
 * where it overlaps a working directory.
 */
function temporary({ free = [], roots, cwd }: Subject, more: readonly string[]): string | undefined {
  const [tmp] = free;
  if (tmp === undefined) return undefined;
  const isOver = (place: string) => isWithin(place, tmp) || isWithin(tmp, place);
  return [...roots, cwd, ...more].some(isOver) ? undefined : tmp;
}

/** What the command is known to do: the places it names for writing, within the rights of its process. */
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

/** As for a command that can be read in full. */
function confinementOf(options: SandboxOptions, subject: Subject): Confinement {
  const { settings, home, realPath, rules } = options;
  const bases = { home, cwd: subject.cwd };
  const lifted = (settings.allowWrite ?? []).flatMap((text) => placeOf(text, bases, realPath));
  const { free = [], ...rest } = subject;
  const write = new Set(writableRoots(options, rest, lifted));
  for (const dir of write)
    if ([...write].some((each) => each !== dir && isWithin(each, dir))) write.delete(dir);
  const network = sandboxNetwork(settings.network ?? {}, rules, subject.rights);
  return { write: [...write].filter((dir) => !free.includes(dir)), network };
}

/** Whether the command only reads: in plan mode only read-only commands are allowed. */
function isReadOnly({ decide }: SandboxOptions, subject: Subject, request: PermitRequest): boolean {
  const { rights, ...rest } = subject;
  const planning = { ...rest, mode: "plan" as const, grants: [] };
  const asked =
    rights === undefined ? planning : { ...planning, rights: { ...rights, mode: "plan" as const } };
  return decide(asked, request).behavior === "allow";
}

function writableRoots(
  { added }: SandboxOptions,
  { roots, cwd, rights, ...subject }: Subject,
  lifted: readonly string[],
): readonly string[] {
  const bounds = rights?.roots ?? null;
  const own = [...(roots.length > 0 ? roots : [cwd]), ...added];
  const within = bounds === null ? own : own.filter((dir) => bounds.some((bound) => isWithin(bound, dir)));
  const walls = rights?.walls ?? [];
  const repositories = within
    .flatMap((root) => repositoryOf(root)?.gitDirs ?? [])
    .flatMap((dir) => (walls.some(({ gitDir }) => gitDir === dir) ? ofWorktrees(dir) : [dir]));
  return [...within, ...freeOf(subject), ...repositories, ...lifted];
}

/**
 * What a commit in a worktree writes of the shared git directory: objects, and the branches of worktrees. Other branches,
 * the configuration and the hooks stay read-only.
 */
function ofWorktrees(gitDir: string): readonly string[] {
  const refs = ["refs/heads/worktree", "refs/remotes"];
  return ["objects", ...refs, ...refs.map((name) => `logs/${name}`)]
    .map((name) => posix.join(gitDir, name))
    .filter((path) => kindOf(path) === "directory");
}

/**
 * Replaces many paths in one directory by the directory, but not by one that the command works in. PERMISSION: too many to hide
 * lie there.
 */
function gathered(paths: readonly string[], open: readonly string[]): readonly string[] {
  const byDirectory = Map.groupBy(paths, (path) => posix.dirname(path));
  return [...byDirectory].flatMap(([dir, names]) => {
    if (names.length <= maxInOne) return names;
    if (!open.some((each) => isWithin(dir, each))) return [dir];
    if (names.length <= maxInOpen) return names;
    throw new Fault({
      code: "PERMISSION",
      message: `${names.length} files in ${dir} are called like secrets, and no sandbox can hide so many`,
      hint: "move them into a folder of their own",
    });
  });
}

/**
 * A mount covers only one name of a file. PERMISSION: a protected file has a second name where the command may write.
 */
function checkNames(paths: readonly string[], roots: readonly string[]): void {
  if (roots.length === 0) return;
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

/** Hosts that commands may reach: those the settings allow, within the rights of the process, except denied ones. */
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

/** The part of a rule that lies within the hosts; its port is kept. */
function within(rule: string, hosts: readonly string[]): readonly string[] {
  const [, name = rule, port = ""] = /^(.*?)(:\d+)?$/.exec(rule) ?? [];
  return hosts.flatMap((host) => {
    if (covers(host, name)) return [rule];
    return covers(name, host) ? [host + port] : [];
  });
}

/** `*.h` covers the hosts below h, also `*.x.h`. */
function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.startsWith("*.") && name.endsWith(pattern.slice(1)) && name.length >= pattern.length;
}

/** The host of a deny rule; `*`: the rule refuses every host. */
function hostOfDeny({ behavior, text }: RuleText): readonly string[] {
  if (behavior !== "deny") return [];
  if (/^fetch$/i.test(text)) return ["*"];
  const [, host] = /^(?:fetch|webfetch)\(domain:([^)]+)\)$/i.exec(text) ?? [];
  return host === undefined ? [] : [host];
}
