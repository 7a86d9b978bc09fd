/**
 * Confines programs by the options of a wrapper, inside the pid namespace that every child has. Everything set up for a program
 * is released when nothing of it is left, on every path. If something cannot be set up, an error is thrown and
 * nothing starts.
 */
import { closeSync, lstatSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../../abi/errors.ts";
import type { SandboxKind, SandboxProfile } from "../../../abi/sandbox.ts";
import { looked, Remembered } from "../../../lib/looks.ts";
import { isWithin } from "../../../lib/path.ts";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";
import { driverError, errnoOf } from "../../driver-error.ts";
import { type Egress, type EgressDeps, openEgress } from "../../net/egress.ts";
import { egressEnvironment, type Forward, forwarded } from "../../net/forwarder.ts";
import { findLibc } from "../libc.ts";
import { isOfCommand, sandboxArguments } from "./arguments.ts";
import { guardSteps } from "./git-steps.ts";
import { guard } from "./guard.ts";
import { strayKernelMounts } from "./kernel-files.ts";
import type { Loopback } from "./loopback.ts";
import { SANDBOX_EXEC, seatbeltProfile } from "./macos.ts";
import { areInPlace, MountTable } from "./mount-table.ts";
import { type Kind, type Mount, planMounts } from "./mounts.ts";
import { needsOf, programsOf } from "./needs.ts";
import { Placeholders } from "./placeholders.ts";
import { entriesOf, type Rule, ruleArguments, rulesOf } from "./rules.ts";
import { MACHINES, SeccompFile, type Sockets } from "./seccomp.ts";
import { replacedSince, stampOf, stampsOf } from "./stamps.ts";
import { watch } from "./watch.ts";

/** The confinement of one child. */
export interface Confinement {
  /** Options of the wrapper, placed between those of every child and its program. */
  readonly options: readonly string[];
  /**
   * Our fd of the filter; the child has it at FILTER_FD. The caller closes it once the child has started. Absent: no
   * filter is needed.
   */
  readonly filterFd?: number | undefined;
  /** The network in which the sandbox is made. */
  readonly loopback?: Loopback | undefined;
  /** The program's argv, with any words put before it inside the sandbox. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** True if the program can move nothing that another sandbox of the same plan is made of. */
  readonly isFixed?: true;
  /** True if its first process is to be a keeper, as was asked for. */
  readonly isKept?: boolean;
  /** True if `other` would be confined in exactly the same way, and all of it is still in place. */
  holds(other: Confine): boolean;
  /** False: a mount is not the planned one, because a program beside has moved something. Absent: there are none. */
  isInPlace?(insidePid: number): Promise<boolean>;
  /** Call before a program begins in it; the result when none of it is left: what it did although it may not, in words. */
  use(): () => readonly string[];
  /** Call once, before the program begins, if it is the only one. */
  begin(): void;
  /** Call once, when no program is left in the sandbox. Returns what one that is the only one did although it may not. */
  end(): readonly string[];
}

type Undo = () => readonly string[];

const quietly =
  (act: () => void): Undo =>
  () => {
    act();
    return [];
  };

const allTaken = (steps: Undo[]): readonly string[] => steps.splice(0).toReversed().flatMap(taken);

/** A failing step does not stop the others; its error is reported in the result. */
function taken(step: Undo): readonly string[] {
  try {
    return step();
  } catch (error) {
    return [`what the sandbox had made could not be taken away: ${messageOf(error)}`];
  }
}

/** The child's fd of the filter; 0 to 2 are the standard streams, 3 is the socket to the daemon. */
export const FILTER_FD = 4;

interface SandboxesOptions {
  /**
   * A directory for these sandboxes only; its path must be short, as it holds sockets. Created here. Absent: a new
   * one among the temporary files.
   */
  readonly dir?: string;
  /**
   * The directory of the placeholders' ledger. Absent: missing directories get no placeholders but are checked
   * afterwards, like files.
   */
  readonly ledgerDir?: string;
  readonly egress?: Partial<EgressDeps>;
  /** The program that forwards to allowed hosts from inside; default: the fastest one installed. */
  readonly forward?: Forward | undefined;
  /** Default: the platform's sandbox. */
  readonly kind?: SandboxKind;
}

export interface Confine {
  readonly id: string;
  readonly profile: SandboxProfile;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The loopback of its process; used if the profile allows no other network. */
  readonly loopback?: Loopback | undefined;
  /** What confines it; default: that of all. */
  readonly kind?: SandboxKind | undefined;
  /** True: `holds` is asked before anything begins in it, so the plan may be that of the last command. */
  readonly isAhead?: boolean;
  /** True: its first process is a keeper of several commands, if each can have what it mounts for itself. */
  readonly isKept?: boolean;
}

/** What a plan depends on, besides the files of the host. */
interface Planned {
  readonly profile: SandboxProfile;
  /** The program, and the script it runs. */
  readonly programs: readonly string[];
  readonly cwd: string;
  readonly path: string;
  readonly isByRules: boolean;
}

/** Plans that are kept: of commands that only read and of others, in the folders of a few processes. */
const maxPlans = 16;

/** How a program is confined, given the current files of the host. */
interface Plan {
  readonly mounts: readonly Mount[];
  readonly links: readonly { readonly path: string; readonly to: string }[];
  readonly missing: readonly string[];
  readonly watched: readonly string[];
}

export class Sandboxes {
  readonly #placeholders: Placeholders | undefined;
  readonly #egress: Partial<EgressDeps>;
  readonly #forward: Forward | undefined;
  readonly #dir: string | undefined;
  readonly #kind: SandboxesOptions["kind"];
  /** Created for the first program that is confined. */
  #made: { readonly dir: string; readonly filters: Map<Sockets | "namespace", SeccompFile> } | undefined;

  constructor({ dir, ledgerDir, egress = {}, forward, kind }: SandboxesOptions = {}) {
    this.#dir = dir;
    this.#forward = forward;
    this.#kind = kind ?? (process.platform === "darwin" ? "seatbelt" : "bubblewrap");
    this.#placeholders = ledgerDir === undefined ? undefined : new Placeholders(ledgerDir);
    this.#egress = egress;
  }

  /** UNAVAILABLE: the sandbox cannot be set up. */
  confine(what: Confine): Confinement {
    const undo: Undo[] = [];
    const end = () => allTaken(undo);
    try {
      const kind = what.kind ?? this.#kind;
      const made = this.#by(kind, what, undo);
      const { gitDirs = [], protect } = what.profile;
      const use = () => {
        // where there are no mounts, all that is protected is compared
        const own = [...made.use(), guardSteps(gitDirs, new Set(kind === "landlock" ? [] : protect))];
        return () => allTaken(own);
      };
      return { ...made, use, begin: () => void undo.push(use()), end };
    } catch (error) {
      end();
      throw errnoOf(error) === undefined ? error : unavailable(error);
    }
  }

  #by(kind: SandboxKind | undefined, what: Confine, undo: Undo[]) {
    if (kind === "seatbelt") return this.#seatbelt(what, undo);
    return kind === "landlock" ? this.#landlock(what, undo) : this.#confine(what, undo);
  }

  /** The program's temporary files are in a folder of its own: seatbelt cannot give it a private /tmp. */
  #seatbelt({ id, profile, argv, cwd, env }: Confine, undo: Undo[]) {
    checkCwd(cwd, profile, []);
    const tmp = this.#ownFolder(id, undo);
    const text = seatbeltProfile(profile, tmp);
    const whole: readonly [string, ...string[]] = [SANDBOX_EXEC, "-p", text, ...argv];
    return { options: [], argv: whole, env: { ...env, TMPDIR: tmp }, use: () => [], holds: () => false };
  }

  /**
   * By rules instead of mounts: `/tmp` is closed and the program told of another folder; what cannot be refused within a
   * writable folder is compared when it has ended.
   */
  #landlock(what: Confine, undo: Undo[]) {
    const { profile } = what;
    const tmp = profile.tmp ?? this.#ownFolder(what.id, undo);
    const plan = (of: Confine) => {
      const { mounts, watched } = this.#plan({ ...of, kind: "landlock", profile: { ...of.profile, tmp } });
      return { ...rulesOf(mounts, entriesOf), watched };
    };
    const { rules, guarded, watched } = plan(what);
    const stands = stampsOfRules(rules);
    const use = () => [watching(watched), guard(guarded)];
    const holds = (other: Confine) => {
      try {
        const now = plan(other);
        return (
          isDeepStrictEqual(now, { rules, guarded, watched }) &&
          isDeepStrictEqual(stampsOfRules(now.rules), stands)
        );
      } catch {
        return false;
      }
    };
    const isOnHost = profile.network === "host";
    return {
      options: ruleArguments(rules, { isOnHost, filterFd: FILTER_FD }),
      filterFd: this.#filter(isOnHost ? "host" : "none").open(),
      argv: what.argv,
      env: { ...what.env, TMPDIR: tmp },
      use,
      holds,
    };
  }

  #ownFolder(id: string, undo: Undo[]): string {
    const tmp = join(this.#make().dir, id);
    mkdirSync(tmp, { mode: 0o700 });
    undo.push(quietly(() => rmSync(tmp, { recursive: true, force: true })));
    return realpathSync(tmp);
  }

  #filter(kind: Sockets | "namespace"): SeccompFile {
    const { filters } = this.#make();
    const machine = MACHINES[process.arch];
    if (machine === undefined)
      throw driverError("Open", "UNAVAILABLE", `no filter of system calls for ${process.arch}`);
    const filter = filters.get(kind) ?? new SeccompFile(machine, kind === "namespace" ? undefined : kind);
    filters.set(kind, filter);
    return filter;
  }

  #confine(what: Confine, undo: Undo[]) {
    const filter = this.#filter("namespace");
    const { id, argv, env } = what;
    const plan = this.#plan(what, what.isAhead === true);
    const held = this.#placeholders?.hold(id, plan.missing);
    if (held !== undefined) undo.push(quietly(held));
    const stands = stampsOf(plan.mounts);
    // what lies in a git directory is looked at for what it would run
    const isTold = (path: string) => !gitDirs.some((dir) => isWithin(dir, path));
    const use = () => [watching(plan.watched), () => replacedSince(plan.mounts, stands, isTold)];
    const { network, gitDirs = [] } = what.profile;
    let egress: Egress | undefined;
    if (network !== "host" && network !== "off") {
      egress = openEgress({ path: join(this.#make().dir, `${id}.sock`), network, ...this.#egress });
      undo.push(egress.close);
    }
    const filterFd = filter.open();
    const { mounts, links } = plan;
    const isKept = what.isKept === true && !mounts.some(isOfCommand);
    const given = isKept ? {} : { filterFd: FILTER_FD };
    const lent = egress === undefined ? [] : [{ from: egress.path, at: SOCKET_INSIDE }];
    const loopback = network === "off" ? what.loopback : undefined;
    const hasNetwork = network === "host" || loopback !== undefined;
    const options = sandboxArguments({ mounts, links, hasNetwork, lent, ...given });
    const inside = { ...env, TMPDIR: temporary(plan) };
    const holds = (other: Confine) =>
      egress === undefined && other.loopback === what.loopback && this.#isAsPlanned(other, plan, stands);
    const isInPlace = (pid: number) => areInPlace(mounts, pid, mountTable.read());
    const own = { options, filterFd, loopback, use, isFixed: true, isKept, isInPlace, holds } as const;
    if (egress === undefined) return { ...own, argv, env: inside };
    return {
      ...own,
      argv: forwarded(argv, SOCKET_INSIDE, this.#forward),
      env: { ...inside, ...egressEnvironment },
    };
  }

  /** A plan for the files that are at the paths now, or were there when it was last asked for; nothing is created. */
  #plan({ profile, argv, cwd, env, kind }: Confine, mayBeOld = false): Plan {
    const [path = "", isByRules] = [env.PATH, kind === "landlock"];
    const planned = { profile, programs: programsOf(argv, cwd), cwd, path, isByRules };
    return mayBeOld ? this.#plans.last(planned) : this.#plans.of(planned);
  }

  readonly #plans = new Remembered((planned: Planned) => this.#planOf(planned), maxPlans);

  // a placeholder of other programs goes with them, perhaps before the wrapper looks
  readonly #kindOf = looked(
    (path: string): Kind => (this.#placeholders?.holds(path) === true ? "absent" : kindOf(path)),
  );

  #planOf({ profile: wanted, programs, cwd, path, isByRules }: Planned): Plan {
    const { tmp, ...withoutTmp } = wanted;
    const places = { hidden: wanted.hide, seen: [...wanted.write, ...wanted.show] };
    const needs = needsOf({ argv: programs, cwd, env: { PATH: path }, ...places });
    const profile = {
      ...withoutTmp,
      // our links must not stay behind in a folder of the host
      ...(tmp === undefined || (needs.links.length > 0 && !isByRules) ? {} : { tmp }),
      hide: [...wanted.hide, ...needs.hide, ...strayKernelMounts(mountsNow(""))],
      show: [...wanted.show, ...needs.show],
    };
    const { mounts, missing, watched } = planMounts(profile, this.#kindOf);
    checkCwd(cwd, profile);
    const { links } = needs;
    if (this.#placeholders !== undefined && !isByRules) return { mounts, links, missing, watched };
    const isThere = ({ path, op }: Mount) => op !== "blank" || !missing.includes(path);
    return { mounts: mounts.filter(isThere), links, missing: [], watched: [...watched, ...missing] };
  }

  #isAsPlanned(other: Confine, plan: Plan, stands: readonly string[]): boolean {
    try {
      return isDeepStrictEqual(this.#plan(other), plan) && isDeepStrictEqual(stampsOf(plan.mounts), stands);
    } catch {
      return false;
    }
  }

  #make() {
    if (this.#made === undefined) {
      const dir = this.#dir ?? realpathSync(makeScratchFolder("crux-sandbox-"));
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { mode: 0o700 });
      this.#made = { dir, filters: new Map() };
    }
    return this.#made;
  }

  /** Removes what the last daemon left; call before anything starts. Returns how many placeholders were removed. */
  sweep(): number {
    return this.#placeholders?.sweep() ?? 0;
  }

  /** Call when no child is left. */
  close(): void {
    for (const filter of this.#made?.filters.values() ?? []) filter.close();
    if (this.#made !== undefined) rmSync(this.#made.dir, { recursive: true, force: true });
    this.#made = undefined;
  }
}

/** Tells what is made, meanwhile, at paths where nothing is. */
function watching(paths: readonly string[]): Undo {
  const watched = watch(paths);
  return () => watched.end().map(({ path, movedTo }) => `${path} was made; it is now ${movedTo}`);
}

/** The path of the egress socket inside; not in `/tmp`, which may be a folder of the host. */
const SOCKET_INSIDE = "/dev/.crux-egress";
/** Bound on TMPDIR: programs put sockets there, whose paths have at most 107 bytes. */
const maxTmpChars = 84;

/** The path that the folder has outside too, so that every tool finds the files made there. */
function temporary({ mounts }: Plan): string {
  const place = mounts.find(({ op }) => op === "place");
  return place?.op === "place" && place.from.length <= maxTmpChars ? place.from : "/tmp";
}

const mountTable = new MountTable(findLibc);
const mountsNow = looked(() => mountTable.read());
const realPathOf = looked((path: string) => realpathSync(path));

/** Throws if the program would not see its working directory. */
function checkCwd(
  cwd: string,
  { write, hide, show }: SandboxProfile,
  own: readonly string[] = ["/tmp"],
): void {
  const real = realPathOf(cwd);
  const isShown = [...write, ...show].some((dir) => isWithin(dir, real));
  const hidden = [...hide, ...own].find((dir) => dir !== real && isWithin(dir, real));
  if (isShown || hidden === undefined) return;
  throw driverError("Open", "UNAVAILABLE", `the sandbox hides the working directory ${cwd} (${hidden})`);
}

const stampsOfRules = (rules: readonly Rule[]): readonly string[] => rules.map(({ path }) => stampOf(path));

function kindOf(path: string): Kind {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "absent";
    if (stat.isSymbolicLink()) return "link";
    return stat.isDirectory() ? "directory" : "file";
  } catch {
    return "absent";
  }
}

function unavailable(error: unknown) {
  return driverError("Open", "UNAVAILABLE", `the sandbox cannot be set up: ${messageOf(error)}`, error);
}

/** Closes our copy of the filter's fd, once the child has its own. */
export function closeFilter({ filterFd }: Pick<Confinement, "filterFd">): void {
  if (filterFd !== undefined) closeSync(filterFd);
}
