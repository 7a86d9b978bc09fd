/** Chooses how this machine keeps children from outliving the daemon: the best way that works, found once. */
import { spawn, spawnSync } from "node:child_process";
import { isExecutable } from "../../lib/program-file.ts";
import { Family } from "./family.ts";
import type { ExecEnd, Isolation, Job, JobSignal } from "./job.ts";
import { namespaceIsolation } from "./namespace.ts";
import { findProcess, hasChildren, hasOpen, sendSignal } from "./procfs.ts";
import { kernelFiles } from "./sandbox/kernel-files.ts";
import { type Wrapper, wrappersHere } from "./wrapper.ts";

/** The exit code of the probe's program if everything is as expected. */
const WORKS = 42;

interface FinderOptions {
  /** Tried in this order. */
  readonly wrappers?: readonly Wrapper[];
  readonly probeMs?: number;
}

export class IsolationFinder {
  readonly #wrappers: readonly Wrapper[];
  /** The probe normally takes 5 ms; one that takes this long hangs, on a mount that does not answer. */
  readonly #probeMs: number;
  #found: Isolation | undefined;

  constructor({ wrappers = wrappersHere(), probeMs = 2_000 }: FinderOptions = {}) {
    // without /proc/…/children, the programs could not be told apart from the wrapper itself
    this.#wrappers = hasChildren ? wrappers : [];
    this.#probeMs = probeMs;
  }

  /** The first caller waits for the probe, unless `lookAhead` has finished by then. */
  get(owner?: string): Isolation {
    this.#found ??= this.#probe(owner) ?? fallback();
    return this.#found;
  }

  /** Probes in the background. Resolves when the answer is known. */
  async lookAhead(owner?: string): Promise<void> {
    for (const namespace of this.#wrappers.map(namespaceOf)) {
      if (this.#found !== undefined) return;
      const [program, ...args] = probeOf(namespace);
      const status = await new Promise((resolve) => {
        const probe = spawn(program, args, this.#options(owner));
        probe.once("exit", resolve);
        probe.once("error", resolve);
      });
      if (status === WORKS) this.#found ??= namespace;
    }
    this.#found ??= fallback();
  }

  #probe(owner?: string): Isolation | undefined {
    return this.#wrappers.map(namespaceOf).find((namespace) => {
      const [program, ...args] = probeOf(namespace);
      return spawnSync(program, args, this.#options(owner)).status === WORKS;
    });
  }

  #options(owner: string | undefined) {
    return { env: probeEnv(owner), stdio: "ignore", timeout: this.#probeMs, killSignal: "SIGKILL" } as const;
  }
}

/**
 * The probe succeeds if it sees itself and the first process, and no other. It fails in a container that forbids
 * namespaces or mounting a new /proc.
 */
function probeOf(namespace: Isolation): readonly [string, ...string[]] {
  const script = `set -- /proc/[0-9]*; [ $# -eq 2 ] && exit ${WORKS}`;
  return namespace.wrap({ program: "/bin/sh", args: ["-c", script], cwd: "/" });
}

/** Kernel files are closed for root only; no other user could write them. */
function namespaceOf(wrapper: Wrapper): Isolation {
  return namespaceIsolation(wrapper, process.getuid?.() === 0 ? kernelFiles() : []);
}

/**
 * The environment of a probe, with the owner's mark that every child has: the wrapper ends with its parent only once it is
 * set up, and one whose parent was killed before that waits forever; the mark lets the next daemon find it.
 */
export function probeEnv(owner: string | undefined): NodeJS.ProcessEnv {
  return owner === undefined ? process.env : { ...process.env, CRUX_OWNER: owner };
}

function fallback(): Isolation {
  return groupIsolation(parentDeathPrefix());
}

const host = new IsolationFinder();

export function hostIsolation(owner?: string): Isolation {
  return host.get(owner);
}

export function lookAhead(owner: string): Promise<void> {
  return host.lookAhead(owner);
}

/**
 * Tracks children by their process group, and by the marks in their environment if they leave it. `prefix`: the words
 * put before an argv so that the leader dies with the daemon; may be empty.
 */
export function groupIsolation(prefix: readonly string[]): Isolation {
  return {
    ownership: prefix.length === 0 ? "group" : "pdeathsig",
    asksAtStart: false,
    wrap: ({ program, args }) => {
      const [first = program, ...rest] = [...prefix, program];
      return [first, ...rest, ...args];
    },
    job: (leader, mark) => new GroupJob(leader, mark),
  };
}

class GroupJob implements Job {
  readonly #leader: number;
  readonly #family: Family;
  #isLearnt = false;

  constructor(leader: number, mark: string) {
    this.#leader = leader;
    this.#family = new Family(leader, mark);
  }

  signal(name: JobSignal): boolean {
    if (name === "SIGTERM") this.#learn();
    return sendSignal(-this.#leader, name);
  }

  stopped(): readonly number[] {
    return this.#family.members().filter((pid) => findProcess(pid)?.isStopped === true);
  }

  kill(): void {
    this.#learn();
    sendSignal(-this.#leader, "SIGKILL");
  }

  left(): readonly number[] {
    return this.#family.members();
  }

  holds(link: string): boolean {
    return hasOpen(this.#leader, link) || this.#family.members().some((pid) => hasOpen(pid, link));
  }

  endOf(leader: ExecEnd): ExecEnd {
    return leader;
  }

  /** Call before the first of them ends, while parents and children are still known. */
  #learn(): void {
    if (!this.#isLearnt) this.#family.learn();
    this.#isLearnt = true;
  }
}

/**
 * A program started through `setpriv --pdeathsig KILL` ends with the daemon, even after kill -9. It costs 0.5 to 0.7
 * ms per start. Without util-linux 2.33 or newer, remaining processes are ended at the next boot (orphans.ts).
 */
let found: readonly string[] | undefined;

/** The words put before an argv; empty if the host does not support it. Looked up once. */
export function parentDeathPrefix(): readonly string[] {
  found ??=
    ["/usr/bin/setpriv", "/bin/setpriv"]
      .filter(isExecutable)
      .slice(0, 1)
      .map((setpriv) => [setpriv, "--pdeathsig", "KILL"])
      .find(works) ?? [];
  return found;
}

function works(prefix: string[]): boolean {
  const [setpriv = "", ...flags] = prefix;
  return (
    spawnSync(setpriv, [...flags, setpriv, "--version"], { stdio: "ignore", timeout: 5_000 }).status === 0
  );
}
