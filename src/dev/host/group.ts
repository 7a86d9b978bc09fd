/** Children held by their process group, and by the marks in their environment where they leave it. */
import { Family } from "./family.ts";
import type { ExecEnd, Isolation, Job, JobSignal } from "./job.ts";
import { findProcess, sendSignal } from "./procfs.ts";

/** `prefix`: what stands before an argv so that the leader dies with the daemon; may be empty. */
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

  endOf(leader: ExecEnd): ExecEnd {
    return leader;
  }

  /** Before the first of them ends: then it is still known who is whose child. */
  #learn(): void {
    if (!this.#isLearnt) this.#family.learn();
    this.#isLearnt = true;
  }
}
