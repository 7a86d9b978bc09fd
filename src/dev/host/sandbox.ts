/**
 * Programs confined by bubblewrap, inside the pid namespace that every child has. What is set up for one is taken back when
 * nothing of it is left, on every path. What cannot be set up throws, and nothing starts.
 */
import { closeSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { isWithin } from "../../lib/path.ts";
import { driverError, errnoOf } from "../driver-error.ts";
import { type Egress, type EgressDeps, openEgress } from "../net/egress.ts";
import { egressEnvironment, forwarded } from "../net/forwarder.ts";
import { sandboxArguments } from "./sandbox-arguments.ts";
import { type Kind, planMounts } from "./sandbox-mounts.ts";
import { Placeholders } from "./sandbox-placeholders.ts";
import { MACHINES, SeccompFile } from "./sandbox-seccomp.ts";
import { watch } from "./sandbox-watch.ts";

/** One child's. */
export interface Confinement {
  /** Between the options of every child and its program. */
  readonly options: readonly string[];
  /** Ours; at FILTER_FD of the child. The caller closes it once the child has it. */
  readonly filterFd: number;
  /** The program with what stands before it inside. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Call once, when nothing of it is left. In words, what it did that it may not. */
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

export interface SandboxesOptions {
  /** For these alone, and short: sockets lie in it. Made here. Absent: a new one among the temporary files. */
  readonly dir?: string;
  /** For the ledger of placeholders; absent: directories that are not there are looked at afterwards, like files. */
  readonly ledgerDir?: string;
  readonly egress?: Partial<EgressDeps>;
}

export interface Confine {
  readonly id: string;
  readonly profile: SandboxProfile;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export class Sandboxes {
  readonly #placeholders: Placeholders | undefined;
  readonly #egress: Partial<EgressDeps>;
  readonly #dir: string | undefined;
  /** Made with the first that is confined. */
  #made: { readonly dir: string; readonly filter: SeccompFile } | undefined;

  constructor({ dir, ledgerDir, egress = {} }: SandboxesOptions = {}) {
    this.#dir = dir;
    this.#placeholders = ledgerDir === undefined ? undefined : new Placeholders(ledgerDir);
    this.#egress = egress;
  }

  /** UNAVAILABLE: it cannot be set up. */
  confine(what: Confine): Confinement {
    const undo: Undo[] = [];
    const end = () => undo.splice(0).toReversed().flatMap(taken);
    try {
      return { ...this.#confine(what, undo), end };
    } catch (error) {
      end();
      throw errnoOf(error) === undefined ? error : unavailable(error);
    }
  }

  #confine({ id, profile, argv, cwd, env }: Confine, undo: Undo[]) {
    const { filter, dir } = this.#make();
    // what stands for others alone goes with them, perhaps before bubblewrap looks
    const look = (path: string): Kind => (this.#placeholders?.holds(path) === true ? "absent" : kindOf(path));
    const plan = planMounts(profile, look);
    checkCwd(cwd, profile);
    const missing = this.#placeholders === undefined ? [] : plan.missing;
    const held = this.#placeholders?.hold(id, missing);
    if (held !== undefined) undo.push(quietly(held));
    const watched = watch([...plan.watched, ...(this.#placeholders === undefined ? plan.missing : [])]);
    undo.push(() => watched.end().map(({ path, movedTo }) => `${path} was made; it is now ${movedTo}`));
    const { network } = profile;
    let egress: Egress | undefined;
    if (network !== "host" && network !== "off") {
      egress = openEgress({ path: join(dir, `${id}.sock`), network, ...this.#egress });
      undo.push(egress.close);
    }
    const filterFd = filter.open();
    const mounts = plan.mounts.filter(
      ({ path, op }) => this.#placeholders !== undefined || op !== "blank" || !plan.missing.includes(path),
    );
    const lent = egress === undefined ? [] : [{ from: egress.path, at: SOCKET_INSIDE }];
    const options = sandboxArguments({
      mounts,
      hasNetwork: network === "host",
      filterFd: FILTER_FD,
      lent,
    });
    const inside = { ...env, TMPDIR: "/tmp" };
    return egress === undefined
      ? { options, filterFd, argv, env: inside }
      : { options, filterFd, argv: forwarded(argv, SOCKET_INSIDE), env: { ...inside, ...egressEnvironment } };
  }

  #make() {
    if (this.#made === undefined) {
      const machine = MACHINES[process.arch];
      if (machine === undefined)
        throw driverError("Open", "UNAVAILABLE", `no filter of system calls for ${process.arch}`);
      const dir = this.#dir ?? realpathSync(mkdtempSync(join(tmpdir(), "crux-sandbox-")));
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir, { mode: 0o700 });
      this.#made = { dir, filter: new SeccompFile(machine) };
    }
    return this.#made;
  }

  /** What the last daemon left, before anything starts. */
  sweep(): number {
    return this.#placeholders?.sweep() ?? 0;
  }

  /** When no child is left. */
  close(): void {
    this.#made?.filter.close();
    if (this.#made !== undefined) rmSync(this.#made.dir, { recursive: true, force: true });
    this.#made = undefined;
  }
}

const SOCKET_INSIDE = "/tmp/.crux-egress";

/** A place that the program would not see is no place to start in. */
function checkCwd(cwd: string, { write, hide, show }: SandboxProfile): void {
  const real = realpathSync(cwd);
  const isShown = [...write, ...show].some((dir) => isWithin(dir, real));
  const hidden = [...hide, "/tmp"].find((dir) => dir !== real && isWithin(dir, real));
  if (isShown || hidden === undefined) return;
  throw driverError("Open", "UNAVAILABLE", `the sandbox hides the working directory ${cwd} (${hidden})`);
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
  closeSync(filterFd);
}
