/**
 * Programs confined by bubblewrap, inside the pid namespace that every child has. What is set up for one is taken back when
 * nothing of it is left, on every path. What cannot be set up throws, and nothing starts.
 */
import { closeSync, lstatSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../../abi/errors.ts";
import type { SandboxProfile, SandboxState } from "../../../abi/sandbox.ts";
import { isWithin } from "../../../lib/path.ts";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";
import { driverError, errnoOf } from "../../driver-error.ts";
import { type Egress, type EgressDeps, openEgress } from "../../net/egress.ts";
import { egressEnvironment, type Forward, forwarded } from "../../net/forwarder.ts";
import { sandboxArguments } from "./arguments.ts";
import { readMounts, strayKernelMounts } from "./kernel-files.ts";
import type { Loopback } from "./loopback.ts";
import { SANDBOX_EXEC, seatbeltProfile } from "./macos.ts";
import { type Kind, type Mount, planMounts } from "./mounts.ts";
import { needsOf } from "./needs.ts";
import { Placeholders } from "./placeholders.ts";
import { MACHINES, SeccompFile } from "./seccomp.ts";
import { watch } from "./watch.ts";

/** One child's. */
export interface Confinement {
  /** Between the options of every child and its program. */
  readonly options: readonly string[];
  /** Ours; at FILTER_FD of the child. The caller closes it once the child has it. Absent: it needs none. */
  readonly filterFd?: number | undefined;
  /** In which it is made. */
  readonly loopback?: Loopback | undefined;
  /** The program with what stands before it inside. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Would another be confined by the very same, and does all of it still stand? */
  holds(other: Confine): boolean;
  /** Call once, before the program begins. */
  begin(): void;
  /** Call once, when no program is left in it. In words, what it did that it may not. */
  end(): readonly string[];
}

type Undo = () => readonly string[];

const quietly =
  (act: () => void): Undo =>
  () => {
    act();
    return [];
  };

/** What cannot be taken back does not keep the rest, and is told. */
function taken(step: Undo): readonly string[] {
  try {
    return step();
  } catch (error) {
    return [`what the sandbox had made could not be taken away: ${messageOf(error)}`];
  }
}

/** After 0 to 2 and the question to the daemon. */
export const FILTER_FD = 4;

interface SandboxesOptions {
  /** For these alone, and short: sockets lie in it. Made here. Absent: a new one among the temporary files. */
  readonly dir?: string;
  /** For the ledger of placeholders; absent: directories that are not there are looked at afterwards, like files. */
  readonly ledgerDir?: string;
  readonly egress?: Partial<EgressDeps>;
  /** What opens the port to allowed hosts inside; default the quickest that is here. */
  readonly forward?: Forward | undefined;
  /** Default what this platform has. */
  readonly kind?: Extract<SandboxState, { available: true }>["kind"];
}

export interface Confine {
  readonly id: string;
  readonly profile: SandboxProfile;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of its process; used where it has no other network. */
  readonly loopback?: Loopback | undefined;
}

/** How one is confined, by what lies on the host. */
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
  /** Made with the first that is confined. */
  #made: { readonly dir: string; readonly filter: SeccompFile | undefined } | undefined;

  constructor({ dir, ledgerDir, egress = {}, forward, kind }: SandboxesOptions = {}) {
    this.#dir = dir;
    this.#forward = forward;
    this.#kind = kind ?? (process.platform === "darwin" ? "seatbelt" : "bubblewrap");
    this.#placeholders = ledgerDir === undefined ? undefined : new Placeholders(ledgerDir);
    this.#egress = egress;
  }

  /** UNAVAILABLE: it cannot be set up. */
  confine(what: Confine): Confinement {
    const undo: Undo[] = [];
    const end = () => undo.splice(0).toReversed().flatMap(taken);
    try {
      return { ...(this.#kind === "seatbelt" ? this.#seatbelt(what, undo) : this.#confine(what, undo)), end };
    } catch (error) {
      end();
      throw errnoOf(error) === undefined ? error : unavailable(error);
    }
  }

  /** Its temporary files lie in a folder of its own: there is no other /tmp to give it. */
  #seatbelt({ id, profile, argv, cwd, env }: Confine, undo: Undo[]) {
    checkCwd(cwd, profile, []);
    const tmp = join(this.#make().dir, id);
    mkdirSync(tmp, { mode: 0o700 });
    undo.push(quietly(() => rmSync(tmp, { recursive: true, force: true })));
    const text = seatbeltProfile(profile, realpathSync(tmp));
    const whole: readonly [string, ...string[]] = [SANDBOX_EXEC, "-p", text, ...argv];
    return {
      options: [],
      argv: whole,
      env: { ...env, TMPDIR: realpathSync(tmp) },
      begin: () => {},
      holds: () => false,
    };
  }

  #confine(what: Confine, undo: Undo[]) {
    const { filter, dir } = this.#make();
    if (filter === undefined)
      throw driverError("Open", "UNAVAILABLE", `no filter of system calls for ${process.arch}`);
    const { id, argv, env, profile } = what;
    const plan = this.#plan(what);
    const held = this.#placeholders?.hold(id, plan.missing);
    if (held !== undefined) undo.push(quietly(held));
    const stands = stampsOf(plan.mounts);
    const begin = () => {
      const watched = watch(plan.watched);
      undo.push(() => watched.end().map(({ path, movedTo }) => `${path} was made; it is now ${movedTo}`));
    };
    const { network } = profile;
    let egress: Egress | undefined;
    if (network !== "host" && network !== "off") {
      egress = openEgress({ path: join(dir, `${id}.sock`), network, ...this.#egress });
      undo.push(egress.close);
    }
    const filterFd = filter.open();
    const { mounts, links } = plan;
    const lent = egress === undefined ? [] : [{ from: egress.path, at: SOCKET_INSIDE }];
    const loopback = network === "off" ? what.loopback : undefined;
    const hasNetwork = network === "host" || loopback !== undefined;
    const options = sandboxArguments({ mounts, links, hasNetwork, filterFd: FILTER_FD, lent });
    const inside = { ...env, TMPDIR: temporary(plan) };
    const holds = (other: Confine) =>
      egress === undefined && other.loopback === what.loopback && this.#isAsPlanned(other, plan, stands);
    const own = { options, filterFd, loopback, begin, holds };
    if (egress === undefined) return { ...own, argv, env: inside };
    return {
      ...own,
      argv: forwarded(argv, SOCKET_INSIDE, this.#forward),
      env: { ...inside, ...egressEnvironment },
    };
  }

  /** Of what lies at the paths now; nothing is made. */
  #plan({ profile: wanted, argv, cwd, env }: Confine): Plan {
    const { tmp, ...withoutTmp } = wanted;
    // what stands for others alone goes with them, perhaps before bubblewrap looks
    const look = (path: string): Kind => (this.#placeholders?.holds(path) === true ? "absent" : kindOf(path));
    const needs = needsOf({ argv, cwd, env, hidden: wanted.hide, seen: [...wanted.write, ...wanted.show] });
    const profile = {
      ...withoutTmp,
      // a link of ours must not be left in a folder of the host
      ...(tmp === undefined || needs.links.length > 0 ? {} : { tmp }),
      hide: [...wanted.hide, ...needs.hide, ...strayKernelMounts(readMounts())],
      show: [...wanted.show, ...needs.show],
    };
    const { mounts, missing, watched } = planMounts(profile, look);
    checkCwd(cwd, profile);
    const { links } = needs;
    if (this.#placeholders !== undefined) return { mounts, links, missing, watched };
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
      const machine = this.#kind === "bubblewrap" ? MACHINES[process.arch] : undefined;
      const dir = this.#dir ?? realpathSync(makeScratchFolder("crux-sandbox-"));
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { mode: 0o700 });
      this.#made = { dir, filter: machine && new SeccompFile(machine) };
    }
    return this.#made;
  }

  /** What the last daemon left, before anything starts. */
  sweep(): number {
    return this.#placeholders?.sweep() ?? 0;
  }

  /** When no child is left. */
  close(): void {
    this.#made?.filter?.close();
    if (this.#made !== undefined) rmSync(this.#made.dir, { recursive: true, force: true });
    this.#made = undefined;
  }
}

/** Not in `/tmp`, which may be a folder of the host. */
const SOCKET_INSIDE = "/dev/.crux-egress";
/** Names of sockets, of 107 bytes at the most, are made of it. */
const maxTmpChars = 84;

/** By the name that it has outside too, so that what is made there is found by every tool. */
function temporary({ mounts }: Plan): string {
  const place = mounts.find(({ op }) => op === "place");
  return place?.op === "place" && place.from.length <= maxTmpChars ? place.from : "/tmp";
}

/** A place that the program would not see is no place to start in. */
function checkCwd(
  cwd: string,
  { write, hide, show }: SandboxProfile,
  own: readonly string[] = ["/tmp"],
): void {
  const real = realpathSync(cwd);
  const isShown = [...write, ...show].some((dir) => isWithin(dir, real));
  const hidden = [...hide, ...own].find((dir) => dir !== real && isWithin(dir, real));
  if (isShown || hidden === undefined) return;
  throw driverError("Open", "UNAVAILABLE", `the sandbox hides the working directory ${cwd} (${hidden})`);
}

/**
 * Which file or folder lies at each path, and not only that one does: a mount stays with what it was made of, and where that was
 * replaced it covers nothing.
 */
function stampsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map((mount) => {
    try {
      const path = mount.op === "place" ? mount.from : mount.path;
      const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
      return `${dev} ${ino} ${birthtimeNs}`;
    } catch {
      return "unseen";
    }
  });
}

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

/** Closes what a child was given, once it has it. */
export function closeFilter({ filterFd }: Pick<Confinement, "filterFd">): void {
  if (filterFd !== undefined) closeSync(filterFd);
}
