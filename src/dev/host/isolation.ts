/** How this machine keeps children from outliving the daemon: the best way that works, found once. */
import { spawn, spawnSync } from "node:child_process";
import { groupIsolation } from "./group.ts";
import type { Isolation } from "./job.ts";
import { namespaceIsolation } from "./namespace.ts";
import { parentDeathPrefix } from "./parent-death.ts";
import { hasChildren } from "./procfs.ts";
import { isExecutable } from "./program.ts";
import { kernelFiles } from "./sandbox/kernel-files.ts";

export const BWRAP = [
  "/usr/bin/bwrap",
  "/usr/local/bin/bwrap",
  "/bin/bwrap",
  "/run/current-system/sw/bin/bwrap",
];
/** What the program of the probe ends with if it is as it should be. */
const WORKS = 42;

export class IsolationFinder {
  readonly #bwrap: string | undefined;
  /** The probe takes 5 ms; one that takes so long hangs, on a mount that does not answer. */
  readonly #probeMs: number;
  #found: Isolation | undefined;

  constructor({ places = BWRAP, probeMs = 2_000 }: { places?: readonly string[]; probeMs?: number } = {}) {
    // without, nobody could be told from bwrap itself
    this.#bwrap = hasChildren ? places.find(isExecutable) : undefined;
    this.#probeMs = probeMs;
  }

  /** The first to ask waits for the probe, unless `lookAhead` is over by then. */
  get(owner?: string): Isolation {
    this.#found ??= this.#probe(owner) ?? fallback();
    return this.#found;
  }

  /** Probes without holding up anybody. Resolves when the answer is known. */
  async lookAhead(owner?: string): Promise<void> {
    if (this.#found !== undefined || this.#bwrap === undefined) return;
    const namespace = namespaceOf(this.#bwrap);
    const [program, ...args] = probeOf(namespace);
    const status = await new Promise((resolve) => {
      const probe = spawn(program, args, this.#options(owner));
      probe.once("exit", resolve);
      probe.once("error", resolve);
    });
    this.#found ??= status === WORKS ? namespace : fallback();
  }

  #probe(owner?: string): Isolation | undefined {
    if (this.#bwrap === undefined) return undefined;
    const namespace = namespaceOf(this.#bwrap);
    const [program, ...args] = probeOf(namespace);
    return spawnSync(program, args, this.#options(owner)).status === WORKS ? namespace : undefined;
  }

  #options(owner: string | undefined) {
    return { env: probeEnv(owner), stdio: "ignore", timeout: this.#probeMs, killSignal: "SIGKILL" } as const;
  }
}

/**
 * Succeeds where it sees itself and the first process, and nobody else: not in a container that forbids namespaces, or a
 * /proc of one's own.
 */
function probeOf(namespace: Isolation): readonly [string, ...string[]] {
  const script = `set -- /proc/[0-9]*; [ $# -eq 2 ] && exit ${WORKS}`;
  return namespace.wrap({ program: "/bin/sh", args: ["-c", script], cwd: "/" });
}

/** Only root could write what is closed. */
function namespaceOf(bwrap: string): Isolation {
  return namespaceIsolation(bwrap, process.getuid?.() === 0 ? kernelFiles() : []);
}

/**
 * With the mark of whose child it is, as every child has it: bwrap ends with its parent only once it is set up, and one whose
 * parent was killed before that waits for ever.
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
