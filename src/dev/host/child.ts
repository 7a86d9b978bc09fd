/**
 * One started program, from spawn until nothing of it is left. The order of its end: the leader exits; its output runs dry;
 * what it left behind is ended; the pipes are let go; then `exited` resolves and no output follows.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../abi/program.ts";
import type { ExecChild, ExecSpec } from "../../kernel/ports/host.ts";
import { driverError, hostError } from "../driver-error.ts";
import type { ExecEnd, Isolation, Job } from "./job.ts";
import type { Launched, Launcher } from "./launch.ts";
import { Output } from "./output.ts";
import type { Pipes } from "./pipes.ts";
import { sendSignal } from "./procfs.ts";
import { type Confinement, closeFilter } from "./sandbox/sandbox.ts";
import { type Started, type Streams, withStreams } from "./streams.ts";

/** TERM to KILL when the spec says nothing, and at the end of the daemon whatever it says. */
export const defaultGraceMs = 5_000;
/** After a CONT, looked for again and again: who stops late. */
const lateStopsMs = [10, 50, 200, 1_000];
/** What a program left behind has done its work: it gets less time than the program itself. */
const leftoverGraceMs = 500;
/** After KILL; a process that outlives it hangs in the host's kernel, and nobody can end it. */
const killedMs = 5_000;

export interface Start {
  readonly spec: ExecSpec;
  /** Absolute. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value` of `env` that only this child has. */
  readonly mark: string;
  readonly isolation: Isolation;
  readonly pipes: Pipes | undefined;
  readonly launch: Launcher;
  readonly clock: Pick<Clock, "mono" | "sleep">;
  /** Absent: it is as the host is. Taken back when nothing of it is left, or it did not start. */
  readonly confinement?: Confinement | undefined;
}

export class HostChild implements ExecChild {
  readonly exited: Promise<ExecEnd>;
  readonly spec: ExecSpec;
  readonly #child: Launched;
  readonly #stdin: Streams["stdin"];
  readonly #output: Output;
  readonly #clock: Start["clock"];
  readonly #confinement: Confinement | undefined;
  /** undefined: it did not start. */
  readonly #job: Job | undefined;
  /** It asked whether we live: all that confines it stands. */
  #hasBegun = false;
  #isLeaderGone = false;
  #isStopped = false;
  /** When KILL comes; undefined: nobody wants its end yet. */
  #killAtMs: number | undefined;
  #killTimer = new AbortController();

  /** Throws what spawn throws: an argument list the host cannot take. */
  constructor(start: Start) {
    this.spec = start.spec;
    this.#clock = start.clock;
    this.#confinement = start.confinement;
    this.#hasBegun = !start.isolation.asksAtStart;
    const { child, streams } = spawnChild(start, () => {
      this.#hasBegun = true;
    });
    this.#child = child;
    this.#stdin = streams.stdin;
    this.#output = new Output(streams.outputs, this.spec.onOutput);
    const { pid } = child;
    this.#job = pid === undefined ? undefined : start.isolation.job(pid, start.mark);
    // a reader that went away is told by write(); unheard, it would end the daemon
    this.#stdin?.on("error", () => {});
    this.exited = this.#supervise();
  }

  get osPid(): number | undefined {
    return this.#child.pid;
  }

  write(data: Uint8Array | string): Promise<void> {
    const stdin = this.#stdin;
    return new Promise((resolve, reject) => {
      const gone = () => reject(driverError("Write", "DRIVER", `${this.spec.owner}: its input is closed`));
      if (stdin === null || !stdin.writable) return gone();
      // an error of the pipe and its destruction both reach the callback
      stdin.write(data, (error) => (error ? gone() : resolve()));
    });
  }

  endInput(): void {
    this.#stdin?.end();
  }

  signal(name: Parameters<ExecChild["signal"]>[0]): boolean {
    if (this.#isLeaderGone || this.#job === undefined) return false;
    if (name === "SIGSTOP") this.#isStopped = true;
    if (name === "SIGCONT") this.#continue(this.#job);
    return this.#job.signal(name);
  }

  /** A process that was being forked at the STOP may come to be, and stop, only after the CONT. */
  #continue(job: Job): void {
    this.#isStopped = false;
    const look = (waitsMs: readonly number[]) => {
      const [waitMs, ...later] = waitsMs;
      if (waitMs === undefined) return;
      setTimeout(() => {
        if (this.#isStopped || this.#isLeaderGone) return;
        for (const pid of job.stopped()) sendSignal(pid, "SIGCONT");
        look(later);
      }, waitMs).unref();
    };
    look(lateStopsMs);
  }

  /** A later call may shorten the grace, never lengthen it. */
  async kill(graceMs = this.spec.graceMs ?? defaultGraceMs): Promise<void> {
    if (this.#job !== undefined) this.#end(this.#job, graceMs);
    await this.exited;
  }

  #end(job: Job, graceMs: number): void {
    const nowMs = this.#clock.mono();
    const isFirst = this.#killAtMs === undefined;
    if (this.#killAtMs !== undefined && this.#killAtMs <= nowMs + graceMs) return;
    this.#killAtMs = nowMs + graceMs;
    this.#output.abandon();
    if (this.#isLeaderGone) return;
    this.#killTimer.abort();
    if (graceMs === 0) {
      job.kill();
      return;
    }
    if (isFirst) job.signal("SIGTERM");
    // one that is stopped hears it only when it goes on
    if (this.#isStopped) this.signal("SIGCONT");
    if (graceMs !== Infinity) this.#killAfter(job, graceMs);
  }

  #killAfter(job: Job, graceMs: number): void {
    this.#killTimer = new AbortController();
    this.#clock.sleep(graceMs, this.#killTimer.signal).then(
      () => job.kill(),
      () => {},
    );
  }

  async #supervise(): Promise<ExecEnd> {
    const { error, ...leader } = await this.#child.ended;
    const end = error === undefined ? leader : notStarted(this.spec, error);
    this.#isLeaderGone = true;
    this.#killTimer.abort();
    await this.#output.quiet();
    if (this.#job !== undefined && (await this.#endLeftovers(this.#job, end))) await this.#output.quiet();
    this.#output.end();
    this.#stdin?.destroy();
    return this.#unconfined(this.#job?.endOf(end) ?? end);
  }

  /** What confined it is taken back; one that never was is an error, not the program's status. */
  #unconfined(end: ExecEnd): ExecEnd {
    if (this.#confinement === undefined) return end;
    const violations = this.#confinement.end();
    if (!this.#hasBegun && end.error === undefined && end.signal === null) {
      const message = "the sandbox could not be set up: bubblewrap failed, its words are in the output";
      return { ...end, error: driverError("Open", "UNAVAILABLE", message) };
    }
    return violations.length === 0 ? end : { ...end, violations };
  }

  /** TERM, then KILL, to each of them alone: the group's number may be somebody else's by now. True: there were some. */
  async #endLeftovers(job: Job, end: ExecEnd): Promise<boolean> {
    const warned = new Set<number>();
    const begunMs = this.#clock.mono();
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
      const left = job.left(end);
      if (left.length === 0) return warned.size > 0;
      const killAtMs =
        this.#killAtMs ?? begunMs + Math.min(leftoverGraceMs, this.spec.graceMs ?? defaultGraceMs);
      const nowMs = this.#clock.mono();
      if (nowMs > Math.max(killAtMs, begunMs) + killedMs) return true;
      for (const pid of left) {
        if (nowMs >= killAtMs) sendSignal(pid, "SIGKILL");
        else if (!warned.has(pid)) sendSignal(pid, "SIGTERM");
        warned.add(pid);
      }
      await this.#clock.sleep(waitMs);
    }
  }
}

function spawnChild(start: Start, onBegun: () => void): Started {
  const { spec, program, env: own, isolation, pipes, launch, confinement } = start;
  const { cwd } = spec;
  const [first, ...args] = confinement?.argv ?? [program, ...spec.argv.slice(1)];
  const confined = confinement === undefined ? {} : { confined: confinement.options };
  const wrapped = isolation.wrap({ program: first, args, cwd, ...confined });
  const env = confinement?.env ?? own;
  return withStreams(spec, pipes, (streams) => {
    const asking = isolation.asksAtStart ? [...streams, "pipe" as const] : streams;
    const filterFd = confinement?.filterFd;
    const stdio = filterFd === undefined ? asking : [...asking, filterFd];
    const child = launch({ argv: wrapped, cwd, env, stdio });
    const question = child.pipes[3] ?? null;
    if (question !== null) answer(question, onBegun);
    return child;
  });
}

/** Whoever hears it knows that this daemon lived when all that ends with it was tied to it. */
function answer(question: Duplex, onAsked: () => void): void {
  // who asked may be gone
  question.on("error", () => {});
  question.once("data", () => {
    onAsked();
    question.end("\n");
  });
}

/** What was made for a child that did not come to be is taken back. */
export function startChild(start: Start): HostChild {
  try {
    return new HostChild(start);
  } catch (error) {
    start.confinement?.end();
    throw error;
  } finally {
    if (start.confinement !== undefined) closeFilter(start.confinement);
  }
}

export function notStarted(spec: ExecSpec, error: unknown): ExecEnd {
  const known = hostError("Open", spec.argv[0] ?? "", error);
  return { code: null, signal: null, error: known instanceof Error ? known : new Error(String(known)) };
}
