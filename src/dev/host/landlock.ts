/**
 * Runs a confined program where no namespaces can be made, below a keeper (landlock-in-perl.ts): the daemon's child is the
 * keeper, and all that the program starts stays below it. What the program leaves behind gets a short time to finish, then
 * TERM, and is killed half a second later; only then the keeper reports the status, and ends.
 *
 * A keeper that is killed from outside, which no program of it can do, leaves processes that are known by their marks.
 */
import { findSystemProgram } from "../program.ts";
import { Family } from "./family.ts";
import type { ExecEnd, Isolation, Job, JobSignal } from "./job.ts";
import { landlockInPerl } from "./landlock-in-perl.ts";
import { signalOfStatus } from "./namespace.ts";
import { descendantsOf, findProcess, isOpenBelow, sendSignal } from "./procfs.ts";

/** The words put before the keeper's options; the first is an absolute path. undefined: there is no keeper here. */
export function landlockKeeper(): readonly [string, ...string[]] | undefined {
  const perl = process.platform === "linux" ? findSystemProgram("perl") : undefined;
  const script = landlockInPerl(process.arch);
  return perl === undefined || script === undefined
    ? undefined
    : [perl, "-f", "-t", "-C0", "-e", script, "--"];
}

/** For confined programs only. */
export function landlockIsolation(keeper: readonly [string, ...string[]]): Isolation {
  return {
    ownership: "pdeathsig",
    asksAtStart: true,
    wrap: ({ confined = [], cwd, program, args }) => [
      ...keeper,
      ...confined,
      ...["--chdir", cwd, "--", program],
      ...args,
    ],
    job: (leader, mark) => new LandlockJob(leader, mark),
  };
}

/** Bound on the rounds of stopping: a program may start processes without end. */
const maxRounds = 16;

class LandlockJob implements Job {
  readonly #keeper: number;
  readonly #mark: string;
  readonly #bornAtMs = performance.now();
  #hasBegun = false;
  readonly #sent = new Set<string>();

  constructor(keeper: number, mark: string) {
    this.#keeper = keeper;
    this.#mark = mark;
  }

  /** Signals the programs. Before there are any, the keeper: it has set up nothing that would have to end with it. */
  signal(name: JobSignal): boolean {
    this.#sent.add(name);
    const inside = descendantsOf(this.#keeper);
    if (inside.length === 0) return this.#hasBegun ? false : sendSignal(this.#keeper, name);
    this.#hasBegun = true;
    if (name === "SIGSTOP") this.#stopAll(inside);
    else {
      for (const pid of inside) sendSignal(pid, name);
      if (name === "SIGCONT") sendSignal(this.#keeper, name);
    }
    return true;
  }

  stopped(): readonly number[] {
    return descendantsOf(this.#keeper).filter((pid) => findProcess(pid)?.isStopped === true);
  }

  /** What starts after this look, the keeper ends. */
  kill(): void {
    this.#sent.add("SIGKILL");
    for (const pid of descendantsOf(this.#keeper)) sendSignal(pid, "SIGKILL");
    sendSignal(this.#keeper, "SIGTERM");
    sendSignal(this.#keeper, "SIGCONT");
  }

  holds(link: string): boolean {
    return isOpenBelow(this.#keeper, link) ?? true;
  }

  left(leader: ExecEnd): readonly number[] {
    if (leader.signal === null) return [];
    return new Family(this.#keeper, this.#mark, this.#bornAtMs).members();
  }

  /** The keeper reports a signal as a shell does (128 + number); one that we sent is reported as that signal. */
  endOf(leader: ExecEnd): ExecEnd {
    // a keeper that had not begun yet has ended by the signal itself
    if (leader.signal !== null && this.#sent.has("SIGKILL")) return { code: null, signal: "SIGKILL" };
    const name = signalOfStatus(leader.code);
    return name !== undefined && this.#sent.has(name) ? { code: null, signal: name } : leader;
  }

  #stopAll(inside: readonly number[]): void {
    const stopped = new Set<number>();
    let found = inside;
    for (let round = 0; round < maxRounds && !found.every((pid) => stopped.has(pid)); round++) {
      for (const pid of found) {
        stopped.add(pid);
        sendSignal(pid, "SIGSTOP");
      }
      found = descendantsOf(this.#keeper);
    }
  }
}
