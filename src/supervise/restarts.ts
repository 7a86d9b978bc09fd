/** Handles the exits under one supervisor: reports, judges by the policy, and acts. Called in the lane of the child. */

import { codeOf, SyscallError } from "../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { CrashReport } from "../abi/supervise.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import { ABORTED } from "../lib/abort.ts";
import type { Child, ChildRun, Round } from "./child.ts";
import type { ChildRuns } from "./child-runs.ts";
import type { Departed } from "./comeback.ts";
import type { CrashJournal } from "./crash-journal.ts";
import { causeOf, exitOfFailure, plainExit, wasOrdered } from "./crash-report.ts";
import { type Departure, type Judgement, RestartPolicy, type Rules } from "./restart-policy.ts";

/** The part of the supervisor that restarts need. */
export interface Restarter {
  readonly ports: Pick<KernelPorts, "clock" | "random">;
  readonly runs: ChildRuns;
  readonly journal: CrashJournal;
  readonly isEnding: boolean;
  /** In start order. */
  readonly children: readonly Child[];
  /** Runs a task in the lane of the child. */
  task(child: Child, act: () => Promise<void>): Promise<void>;
  /** Registers a task that the supervisor waits for at its end. */
  keep(task: Promise<void>): void;
  /** Notifies the observer. */
  tell(report: CrashReport): void;
  /** Called with the ids of restored children that wait to be released; null: they are started here. */
  readonly cameBack: ((ids: readonly string[]) => void) | null;
  giveUp(reason: string): void;
  /** Ends the supervisor if no child is left to run. */
  checkDone(): void;
}

/** A run that has ended, or a failed start, for which `pid` may be 0. */
interface Loss extends Pick<Departure, "isStopping" | "isOrdered" | "isRefused"> {
  readonly child: Child;
  readonly pid: Pid;
  readonly exit: ExitStatus;
}

/** The supervisor has not stopped the child. */
const BY_ITSELF = { isStopping: false, isRefused: false };

type Decision = Judgement["decision"];

export class Restarts {
  readonly #host: Restarter;
  readonly #policy: RestartPolicy;
  readonly #rules: Rules;

  /** `restarts`: the times of restarts within the window, monotonic ms, rising. */
  constructor(host: Restarter, rules: Rules, restarts: readonly number[] = []) {
    this.#host = host;
    this.#rules = rules;
    this.#policy = new RestartPolicy(rules, restarts);
  }

  async start(child: Child, stop: AbortController): Promise<void> {
    const { runs, journal, isEnding } = this.#host;
    // nothing is started once the supervisor ends
    if (isEnding) stop.abort(ABORTED);
    const { pid } = await runs.start(child, stop);
    journal.say("info", `${child.id}: started (PID ${pid})`);
  }

  /** False: it did not start, and the policy has already acted on that. */
  async attempt(child: Child): Promise<boolean> {
    const stop = new AbortController();
    try {
      await this.start(child, stop);
      return true;
    } catch (error) {
      // stopped by a call or by the end of the supervisor: not a failure
      if (!stop.signal.aborted) return (await this.failed(child, error)) === "drop";
      child.state = "stopped";
      return true;
    }
  }

  /** Treats a failed start as an exit. */
  failed(child: Child, error: unknown): Promise<Decision> {
    const exit = exitOfFailure(error);
    const code = codeOf(error);
    const pid = error instanceof SyscallError ? error.pid : PID_KERNEL;
    child.end(plainExit(exit), 0);
    return this.#left({
      child,
      pid,
      exit,
      isStopping: false,
      isOrdered: code === "CANCELLED",
      isRefused: code === "BUDGET" || code === "PERMISSION",
    });
  }

  async exited(child: Child, run: ChildRun, exit: ExitStatus): Promise<void> {
    // the run was shut down meanwhile
    if (child.run !== run) return;
    child.end(plainExit(exit), this.#mono() - run.startedMono);
    const isOrdered = run.proc !== null && wasOrdered(run.proc, exit);
    await this.#left({ ...BY_ITSELF, child, pid: run.pid, exit, isOrdered });
  }

  /**
   * Continues from an earlier daemon. Each lost run counts as an exit. With one_for_one, all children that are
   * restarted start together and in order, as at a first start.
   */
  async resume(lost: readonly Departed[]): Promise<void> {
    const { children, isEnding } = this.#host;
    if (isEnding) return;
    const planned = children.filter(({ state, run }) => state === "restarting" && run === null);
    if (this.#rules.strategy !== "one_for_one") {
      this.#comeBack(planned);
      for (const each of lost) this.#host.keep(this.#host.task(each.child, () => this.#lost(each)));
      return;
    }
    for (const each of lost) if (!this.#judgeLost(each)) return;
    this.#comeBack(children.filter(({ state, run }) => state === "restarting" && run === null));
  }

  async #lost({ child, run, exit, isOrdered }: Departed): Promise<void> {
    if (child.run !== run) return;
    child.end(plainExit(exit), this.#mono() - run.startedMono);
    await this.#left({ ...BY_ITSELF, child, pid: run.pid, exit, isOrdered });
  }

  /** False: this exit makes the supervisor give up. */
  #judgeLost({ child, run, exit, isOrdered }: Departed): boolean {
    const loss = { ...BY_ITSELF, child, pid: run.pid, exit, isOrdered };
    child.end(plainExit(exit), this.#mono() - run.startedMono);
    const judgement = this.#judged(loss);
    if (judgement.decision === "escalate") this.#escalate(loss);
    if (judgement.decision !== "restart") return judgement.decision !== "escalate";
    child.restarts++;
    child.row = judgement.row;
    child.nextStartAt = this.#host.ports.clock.now() + judgement.delayMs;
    return true;
  }

  /** Starts the children after the longest of their delays, each when the previous one is running. */
  #comeBack(children: readonly Child[]): void {
    const { cameBack, ports } = this.#host;
    const { clock } = ports;
    if (children.length === 0) {
      cameBack?.([]);
      return;
    }
    const waits = children.map(({ nextStartAt }) => (nextStartAt ?? 0) - clock.now());
    // the wall clock may have been set back since the last daemon
    const waitMs = Math.min(this.#policy.longestMs, Math.max(0, ...waits));
    const round: Round = { children, stop: new AbortController() };
    for (const child of children) child.join(round, clock.now() + waitMs);
    clock.sleep(waitMs, round.stop.signal).then(
      () => this.#host.keep(this.#startInTurn(round)),
      () => cameBack?.([]),
    );
  }

  async #startInTurn(round: Round): Promise<void> {
    const { cameBack } = this.#host;
    const left = round.children.filter((child) => child.round === round);
    if (cameBack !== null) {
      for (const child of left) {
        child.leaveRound();
        child.state = "waiting";
      }
      cameBack(left.map(({ id }) => id));
      return;
    }
    for (const child of left)
      await this.#host.task(child, async () => {
        if (child.round === round) await this.attempt(child);
      });
  }

  /** Reports a run that the supervisor ended. */
  wasShutDown(child: Child, run: ChildRun, exit: ExitStatus): void {
    const loss = { child, pid: run.pid, exit, isStopping: true, isOrdered: true, isRefused: false };
    this.#tell(loss, this.#judge(loss));
  }

  /** Shuts the child down, and cancels its planned start. */
  async shut(child: Child, state: "stopped" | "done" | "restarting"): Promise<void> {
    child.leaveRound();
    await this.#host.runs.stop(child);
    child.state = state;
  }

  async #left(loss: Loss): Promise<Decision> {
    const judgement = this.#judged(loss);
    const { decision } = judgement;
    if (decision === "restart") await this.#restart(loss.child, judgement);
    else if (decision === "escalate") this.#escalate(loss);
    else this.#host.checkDone();
    return decision;
  }

  /** Judges the loss, applies the new state and reports both. */
  #judged(loss: Loss): Judgement {
    const judgement = this.#judge(loss);
    if (judgement.decision === "drop") loss.child.become("done");
    if (judgement.decision === "restart") loss.child.become("restarting");
    this.#tell(loss, judgement);
    return judgement;
  }

  #judge({ child, ...loss }: Loss): Judgement {
    const { ranMs, row } = child;
    const siblings = this.#host.children.map((each) => each.sibling());
    const now = { siblings, mono: this.#mono(), random: this.#host.ports.random() };
    return this.#policy.judge({ ...loss, child: child.sibling(), ranMs, row }, now);
  }

  #tell(loss: Loss, judgement: Judgement): void {
    this.#host.tell(this.#host.journal.report(loss, judgement));
  }

  /** Shuts the affected siblings down at once; the delay counts from the exit of `child`. */
  async #restart(child: Child, judgement: Extract<Judgement, { decision: "restart" }>): Promise<void> {
    const dueMono = this.#mono() + judgement.delayMs;
    const { stop, drop, start } = judgement.plan;
    child.restarts++;
    child.row = judgement.row;
    for (const sibling of this.#named(stop)) {
      if (this.#host.isEnding) return;
      await this.shut(sibling, drop.includes(sibling.id) ? "done" : "restarting");
    }
    if (!this.#host.isEnding) this.#schedule(child, this.#named(start), dueMono);
  }

  #named(ids: readonly string[]): readonly Child[] {
    return ids.flatMap((id) => this.#host.children.find((child) => child.id === id) ?? []);
  }

  #schedule(pivot: Child, children: readonly Child[], dueMono: number): void {
    const { clock } = this.#host.ports;
    const waitMs = Math.max(0, dueMono - clock.mono());
    const round: Round = { children, stop: new AbortController() };
    for (const child of children) child.join(round, clock.now() + waitMs);
    clock.sleep(waitMs, round.stop.signal).then(
      () => this.#host.keep(this.#host.task(pivot, () => this.#startRound(round))),
      () => {},
    );
  }

  /** Starts the round in order, and stops at a failed start: its own judgement covers the rest. */
  async #startRound(round: Round): Promise<void> {
    for (const child of round.children) {
      if (child.round === round && !(await this.attempt(child))) return;
    }
  }

  #escalate({ child, exit, isRefused }: Loss): void {
    const cause = causeOf(exit);
    const isCause = isRefused || exit.reason === EXIT.budget.reason;
    const reason = isCause ? `${child.id}: ${cause}` : `restart intensity exceeded: ${child.id}`;
    this.#host.journal.escalated(child, reason, cause);
    this.#host.giveUp(reason);
  }

  #mono(): number {
    return this.#host.ports.clock.mono();
  }
}
