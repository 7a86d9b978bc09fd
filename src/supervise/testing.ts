/** Children for tests of supervision: each run does only what the test specifies. */
import type { Pid } from "../abi/ids.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { ProgramStart } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import type { TestKernel } from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";

export const CRASH: ExitStatus = { code: 1, reason: "boom", kind: "fault" };

interface Worker {
  readonly sys: Sys;
  readonly start: ProgramStart;
  end(exit: ExitStatus): void;
}

export class Workers {
  readonly #t: TestKernel;
  readonly #live = new Map<string, Worker>();
  /** `+a`: a run of `a` began; `-a`: it ended; in order. */
  readonly #story: string[] = [];
  /** Intents whose runs ignore TERM. */
  readonly stubborn = new Set<string>();
  /** Intents whose runs exit immediately, with this exit. */
  readonly sick = new Map<string, ExitStatus>();
  /** Actions at the beginning of a run, by intent. */
  readonly acts = new Map<string, (sys: Sys, start: ProgramStart) => Promise<void>>();

  constructor(t: TestKernel) {
    this.#t = t;
  }

  /** Registers the test program for these intents. */
  add(...intents: string[]): void {
    for (const intent of intents) this.#t.programs.set(intent, (sys, start) => this.#work(sys, start));
  }

  pid(intent: string): Pid {
    return this.#worker(intent).start.pid;
  }

  sys(intent: string): Sys {
    return this.#worker(intent).sys;
  }

  #worker(intent: string): Worker {
    const worker = this.#live.get(intent);
    if (worker === undefined) throw new Error(`${intent} does not run`);
    return worker;
  }

  get alive(): string[] {
    return [...this.#live.keys()].sort();
  }

  /** Lets the program return; resolves when all consequences that need no passing of time have happened. */
  async end(intent: string, exit: ExitStatus = EXIT.completed): Promise<void> {
    this.#live.get(intent)?.end(exit);
    await settle(6);
  }

  /** The story since the last call. */
  told(): string {
    return this.#story.splice(0).join(" ");
  }

  async #work(sys: Sys, start: ProgramStart): Promise<ExitStatus> {
    const { intent } = start;
    const over = Promise.withResolvers<ExitStatus>();
    this.#story.push(`+${intent}`);
    this.#live.set(intent, { sys, start, end: over.resolve });
    const heed = (): void => over.resolve(EXIT.unexpected);
    if (!this.stubborn.has(intent)) sys.ending.addEventListener("abort", heed);
    if (sys.ending.aborted) heed();
    await this.acts.get(intent)?.(sys, start);
    const sick = this.sick.get(intent);
    if (sick !== undefined) over.resolve(sick);
    const exit = await over.promise;
    this.#live.delete(intent);
    this.#story.push(`-${intent}`);
    return exit;
  }
}
