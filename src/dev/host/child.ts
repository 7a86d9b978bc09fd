/**
 * One started program, from spawn until nothing of it is left. The order of its end: the leader exits; its output
 * falls silent; the processes it left behind are ended; the pipes are closed; then `exited` resolves and no more
 * output is delivered.
 */
import type { Writable } from "node:stream";
import type { WindowSize } from "../../abi/native.ts";
import type { Clock } from "../../abi/program.ts";
import type { ExecChild, ExecSpec, NativeUsage } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import { driverError, hostError } from "../driver-error.ts";
import type { ExecEnd, Job } from "./job.ts";
import { Output } from "./output.ts";
import type { Prepared } from "./prepared-child.ts";
import { sendSignal, usageOf } from "./procfs.ts";
import type { Streams } from "./streams.ts";

/** The time from TERM to KILL if the spec names none; also its upper bound when the daemon shuts down. */
export const defaultGraceMs = 5_000;
/** Delays after a CONT at which we look for processes that stopped late. */
const lateStopsMs = [10, 50, 200, 1_000];
/** The grace for processes that a program left behind: less than for the program itself. */
const leftoverGraceMs = 500;
/** How long we wait for what the setup and the first process have printed and reported; both have ended. */
const lateWordsMs = 200;
/** How often a child is made once more: files may come and go each time, where many work beside each other. */
const maxRenewals = 3;
/** Of the setup's words in an error. */
const maxReasonChars = 300;
/** How often we look whether a program that does not take its input can still read it. */
const stuckInputMs = 250;
/** How long we wait after KILL; a process that outlives it hangs in the host's kernel, and nothing can end it. */
const killedMs = 5_000;

export interface Begun {
  readonly spec: ExecSpec;
  readonly prepared: Prepared;
  readonly clock: Pick<Clock, "mono" | "sleep">;
  /**
   * Makes and begins the child anew, if the prepared one ends before its program begins: it may have been killed
   * at any time since it was prepared. Throws what making it throws.
   */
  readonly again?: (() => Prepared) | undefined;
}

interface Body {
  readonly prepared: Prepared;
  readonly stdin: Streams["stdin"];
  readonly output: Output;
  /** undefined: the program did not start. */
  readonly job: Job | undefined;
}

export class HostChild implements ExecChild {
  readonly exited: Promise<ExecEnd>;
  readonly spec: ExecSpec;
  readonly #clock: Begun["clock"];
  #body: Body;
  #again: Begun["again"];
  #renewals = 0;
  /** Why its setup failed, in the setup's own words. */
  #reason = "";
  /** All that the ended first process reported was read: only then did its program not begin if it did not say so. */
  #isHeard = false;
  #isSignalled = false;
  #isLeaderGone = false;
  #isStopped = false;
  /** When KILL is sent, on the monotonic clock; undefined: no end was requested yet. */
  #killAtMs: number | undefined;
  #killTimer = new AbortController();

  constructor({ spec, prepared, clock, again }: Begun) {
    this.spec = spec;
    this.#clock = clock;
    this.#again = again;
    this.#body = bodyOf(spec, prepared);
    this.exited = this.#supervise();
  }

  get osPid(): number | undefined {
    return this.#body.prepared.launched.leader.pid;
  }

  write(data: Uint8Array | string): Promise<void> {
    const stdin = this.#body.stdin;
    // the input cannot be given to another child
    this.#again = undefined;
    return new Promise((resolve, reject) => {
      const taken = new AbortController();
      const gone = () => reject(driverError("Write", "DRIVER", `${this.spec.owner}: its input is closed`));
      if (stdin === null || !stdin.writable || !this.#isRead()) return gone();
      // an error of the pipe and its destruction both reach the callback
      stdin.write(data, (error) => {
        taken.abort(ABORTED);
        error ? gone() : resolve();
      });
      if (stdin.writableLength > 0) this.#closeUnread(stdin, taken.signal);
    });
  }

  /** The setup of a program has its input open as long as it runs, so the system does not say when nobody reads it. */
  #isRead(): boolean {
    const { job, prepared } = this.#body;
    const { inputLink } = prepared.launched;
    return inputLink === undefined || job === undefined || job.holds(inputLink);
  }

  #closeUnread(stdin: Writable, taken: AbortSignal): void {
    this.#clock.sleep(stuckInputMs, taken).then(
      () => (this.#isRead() ? this.#closeUnread(stdin, taken) : stdin.destroy()),
      () => {},
    );
  }

  endInput(): void {
    this.#again = undefined;
    this.#body.stdin?.end();
  }

  resize(size: WindowSize): void {
    this.#body.prepared.streams.pty?.resize(size);
  }

  usage(): NativeUsage | undefined {
    const { osPid } = this;
    return osPid === undefined || this.#isLeaderGone ? undefined : usageOf(osPid);
  }

  signal(name: Parameters<ExecChild["signal"]>[0]): boolean {
    if (this.#isLeaderGone || this.#body.job === undefined) return false;
    this.#isSignalled = true;
    if (name === "SIGSTOP") this.#isStopped = true;
    if (name === "SIGCONT") this.#continue(this.#body.job);
    return this.#body.job.signal(name);
  }

  /** A process that was being forked at the STOP may appear, and stop, only after the CONT. */
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
    if (this.#body.job !== undefined) this.#end(this.#body.job, graceMs);
    await this.exited;
  }

  #end(job: Job, graceMs: number): void {
    const nowMs = this.#clock.mono();
    const isFirst = this.#killAtMs === undefined;
    if (this.#killAtMs !== undefined && this.#killAtMs <= nowMs + graceMs) return;
    this.#killAtMs = nowMs + graceMs;
    this.#isSignalled = true;
    this.#body.output.abandon();
    if (this.#isLeaderGone) return;
    this.#killTimer.abort(ABORTED);
    if (graceMs === 0) {
      job.kill();
      return;
    }
    if (isFirst) job.signal("SIGTERM");
    // a stopped process handles the TERM only after a CONT
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

  /**
   * Resolves when nothing of the child is left, nor of its namespaces and sandbox: later than `exited` if the status
   * was reported before that.
   */
  get gone(): Promise<unknown> {
    return this.exited.then(() => this.#body.prepared.launched.leader.ended);
  }

  async #supervise(): Promise<ExecEnd> {
    const { confinement, told, launched } = this.#body.prepared;
    // a program that is not confined could fake the report of its first process
    const alone = confinement === undefined ? [] : [told];
    const leader = await Promise.race([launched.leader.ended, ...alone]);
    if (typeof leader !== "number" && (await this.#isRenewed())) return this.#supervise();
    this.#isLeaderGone = true;
    this.#killTimer.abort(ABORTED);
    if (typeof leader === "number") return this.#endTold(leader);
    const { error, ...status } = leader;
    const end = error === undefined ? status : notStarted(this.spec, error);
    await this.#body.output.quiet();
    if (this.#body.job !== undefined && (await this.#endLeftovers(this.#body.job, end)))
      await this.#body.output.quiet();
    if (!this.#body.prepared.hasAsked) await this.#tellSetup();
    return this.#close(this.#body.job?.endOf(end) ?? end);
  }

  /** Replaces a child that has ended before its program began, if nothing was sent to it. */
  async #isRenewed(): Promise<boolean> {
    const { prepared } = this.#body;
    const late = this.#clock.sleep(lateWordsMs).then(untilRead);
    this.#isHeard = await Promise.race([prepared.heardAll().then(() => true), late.then(() => false)]);
    const again = this.#again;
    if (!this.#isHeard || prepared.hasBegun || this.#isSignalled || again === undefined) return false;
    if (++this.#renewals > maxRenewals) return false;
    try {
      const next = again();
      prepared.drop();
      this.#body = bodyOf(this.spec, next);
      return true;
    } catch {
      // the first failure is told
      return false;
    }
  }

  /** Only the first process is left, and it is no longer needed. */
  async #endTold(code: number): Promise<ExecEnd> {
    const end = this.#body.job?.endOf({ code, signal: null }) ?? { code, signal: null };
    this.#body.job?.kill(true);
    await this.#body.output.quiet();
    return this.#close(end);
  }

  #close(end: ExecEnd): ExecEnd {
    this.#body.output.end();
    this.#body.prepared.close();
    return this.#unconfined(end);
  }

  /** Passes on the setup's own error output if the setup failed. */
  async #tellSetup(): Promise<void> {
    const late = this.#clock.sleep(lateWordsMs).then(() => "");
    const words = await Promise.race([this.#body.prepared.words(), late]);
    this.#reason = words.trim().slice(0, maxReasonChars).toWellFormed();
    if (words !== "")
      this.spec.onOutput(this.spec.isMerged === true ? "stdout" : "stderr", Buffer.from(words));
  }

  /** Releases the confinement; a sandbox that was never set up is an error, not the program's status. */
  #unconfined(end: ExecEnd): ExecEnd {
    const { confinement, hasAsked, hasBegun } = this.#body.prepared;
    if (confinement === undefined) return end;
    const violations = confinement.end();
    if (!hasBegun && end.error === undefined && !this.#isSignalled) {
      const message = hasAsked
        ? `the sandbox was ended from outside${this.#isHeard ? " before its command began; the command did not run" : "; whether its command ran is not known"}`
        : `the sandbox could not be set up${this.#reason === "" ? ", and gave no reason" : `: ${this.#reason}`}`;
      return { ...end, error: driverError("Open", "UNAVAILABLE", message) };
    }
    return violations.length === 0 ? end : { ...end, violations };
  }

  /**
   * Sends TERM, then KILL, to each remaining process by its pid: the group's number may belong to another group by
   * now. Returns true if there were any.
   */
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

/**
 * After a long round of the event loop a timer is due before what came meanwhile is read. Called from a timer; resolves when it
 * was read.
 */
function untilRead(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function bodyOf(spec: ExecSpec, prepared: Prepared): Body {
  const { stdin, outputs } = prepared.streams;
  // write() reports a reader that went away; an unhandled error event would end the daemon
  stdin?.on("error", () => {});
  const onOutput: ExecSpec["onOutput"] =
    spec.isBorrowed === true ? spec.onOutput : (stream, chunk) => spec.onOutput(stream, Buffer.from(chunk));
  return { prepared, stdin, output: new Output(outputs, onOutput), job: prepared.job };
}

export function notStarted(spec: ExecSpec, error: unknown): ExecEnd {
  const known = hostError("Open", spec.argv[0] ?? "", error);
  return { code: null, signal: null, error: known instanceof Error ? known : new Error(String(known)) };
}
