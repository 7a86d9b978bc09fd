/**
 * Keeps processes running as its specification says. restart-policy.ts decides about exits; this file acts. Actions on
 * one child run one after another in its lane; where children are restarted together, all share one lane. When the
 * supervisor ends, so do its children: at TERM in reverse start order, at KILL at once.
 */

import { messageOf, printed, SyscallError } from "../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../abi/ids.ts";
import { EXIT, type ExitStatus, SIGNALS, type Signal } from "../abi/process.ts";
import type { SupervisorView } from "../abi/supervise.ts";
import type { EventLog } from "../kernel/ports/events.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { SupervisorControl } from "../kernel/ports/supervisors.ts";
import type { Body } from "../kernel/process/body.ts";
import type { Process } from "../kernel/process/process.ts";
import { ABORTED } from "../lib/abort.ts";
import { Serial } from "../lib/serial.ts";
import { Child } from "./child.ts";
import { ChildRuns } from "./child-runs.ts";
import type { Comeback } from "./comeback.ts";
import { CrashJournal } from "./crash-journal.ts";
import { conflict, type Ending, ended, endingOf, exitOf } from "./ending.ts";
import { Endowment } from "./endowment.ts";
import { Lanes } from "./lanes.ts";
import { launchSupervisor } from "./launch.ts";
import { Ledger, type LedgerKeeping, type Reshaped } from "./ledger.ts";
import { type Restarter, Restarts } from "./restarts.ts";
import type { CheckedChild, CheckedSpec } from "./spec.ts";
import { recordOfSpec } from "./spec-record.ts";
import type { ChildKernel, Seat } from "./start-child.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";

/** What a supervisor needs of the kernel. */
export type Supervising = ChildKernel &
  LedgerKeeping & {
    readonly ports: Pick<KernelPorts, "random">;
    readonly events: Pick<EventLog, "publish">;
    /** Running supervisors, by pid; each enters and removes itself. */
    readonly supervisors: Map<Pid, SupervisorControl>;
  };

export class Supervisor implements SupervisorControl {
  readonly #core: Supervising;
  readonly #spec: CheckedSpec;
  readonly #options: SupervisorOptions;
  readonly #endowment: Endowment;
  readonly #sharedLane = new Serial();
  /** In start order. */
  #children: Child[];
  /** `#runs` and `#restarts` are set when the supervisor begins to run. */
  #runs!: ChildRuns;
  #restarts!: Restarts;
  #ending: Ending | null = null;
  /** The number of reshapes in progress; meanwhile the supervisor does not end for lack of children. */
  #reshaping = 0;
  readonly #lanes: Lanes;
  readonly #ledger: Ledger;
  readonly #ended = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(core: Supervising, spec: CheckedSpec, options: SupervisorOptions = {}) {
    this.#core = core;
    this.#spec = spec;
    this.#options = options;
    this.#endowment = options.endowment ?? new Endowment();
    this.#lanes = new Lanes(spec.name, (error) => this.#bug(error));
    this.#ledger = new Ledger(core);
    this.#children = spec.children.map((child) => this.#childOf(child));
    for (const child of this.#children) {
      const kept = options.comeback?.fold.find(child.id);
      if (kept !== undefined) child.restore(kept);
    }
  }

  get name(): string {
    return this.#spec.name;
  }

  /** Resolves when all children run, or, with an observer, at once. Rejects with the first error of a start. */
  get opened(): Promise<void> {
    return this.#lanes.opened;
  }

  /** Resolves when all children are gone and the supervisor does nothing more. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isEnding(): boolean {
    return this.#ending !== null;
  }

  get children(): readonly Child[] {
    return this.#children;
  }

  /** The process whose rights its children get a part of; undefined: the supervisor itself. */
  get rights(): Process | undefined {
    return this.#options.rights;
  }

  find(id: string): Child | undefined {
    return this.#children.find((child) => child.id === id);
  }

  body(): Body {
    return {
      kind: "supervisor",
      name: this.#spec.name,
      agent: null,
      isActive: true,
      prepare: async () => {},
      run: (proc) => this.#run(proc),
      onSignal: (_proc, signal) => this.#onSignal(signal),
      record: () => ({ supervisor: recordOfSpec(this.#kept) }),
      keep: ({ proc }) => this.#ledger.begin(proc, this.#children, this.#options),
    };
  }

  /**
   * The recorded specification: without a project's children, which contain variable values and are read from its file.
   */
  get #kept(): CheckedSpec {
    return this.#options.project === undefined ? this.#spec : { ...this.#spec, children: [] };
  }

  view(): SupervisorView {
    const { name, strategy, intensity } = this.#spec;
    const crashes = this.#children.flatMap((child) => child.crashes).sort((a, b) => a.at - b.at);
    return { name, strategy, intensity, children: this.#children.map((child) => child.view()), crashes };
  }

  async startChild(id: string): Promise<void> {
    this.#core.journalWatch.check("Supervisor");
    await this.#call(id, async (child) => {
      if (child.run !== null) throw conflict(`child ${id} runs: PID ${child.run.pid}`);
      child.leaveRound();
      await this.#startByCall(child, () => this.#stopped(child));
    });
  }

  async stopChild(id: string): Promise<void> {
    const attempt = this.#require(id).starting;
    // otherwise the call would wait for the start in progress in its lane
    attempt?.stop.abort(ABORTED);
    await this.#call(id, async (child) => {
      if (attempt === null && child.isIdle) throw notRunning(child);
      await this.#restarts.shut(child, "stopped");
      this.#stopped(child);
      // it stays stopped even if the daemon dies now
      await this.#core.ports.journal.sync();
    });
  }

  async restartChild(id: string): Promise<void> {
    this.#core.journalWatch.check("Supervisor");
    await this.#call(id, async (child) => {
      if (child.isIdle) throw notRunning(child);
      await this.#restarts.shut(child, "restarting");
      await this.#startByCall(child, (error) => this.#restarts.failed(child, error));
    });
  }

  /** A start by a call resets the restarts in a row. */
  async #startByCall(child: Child, onFailure: (error: unknown) => unknown): Promise<void> {
    const stop = new AbortController();
    child.row = 0;
    try {
      await this.#restarts.start(child, stop);
    } catch (error) {
      if (!stop.signal.aborted) {
        await onFailure(error);
        throw error;
      }
      child.state = "stopped";
      throw this.isEnding ? ended(this.name) : conflict(`child ${child.id} was stopped meanwhile`);
    }
  }

  /** Starts a waiting child. Resolves when it runs, or when its failure has been judged. */
  release(id: string): Promise<void> {
    const child = this.#require(id);
    return this.#task(child, async () => {
      if (child.state === "waiting" && child.run === null) await this.#restarts.attempt(child);
    });
  }

  /** Marks a waiting child as never to be started. */
  skip(id: string): void {
    const child = this.#require(id);
    if (child.state === "waiting") child.state = "skipped";
    this.#checkDone();
  }

  /**
   * Shuts down `removed` in reverse order and forgets them; then adds `added`, which wait. `order`: the ids of all
   * children afterwards.
   */
  async reshape(
    removed: readonly string[],
    added: readonly CheckedChild[],
    order: readonly string[],
  ): Promise<void> {
    this.#reshaping++;
    try {
      const going = this.#children.filter(({ id }) => removed.includes(id));
      for (const child of going.toReversed()) await this.#remove(child);
      const all = [...this.#children, ...added.map((child) => this.#childOf(child))];
      this.#children = all.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
    } finally {
      this.#reshaping--;
    }
    this.#checkDone();
  }

  async #remove(child: Child): Promise<void> {
    child.starting?.stop.abort(ABORTED);
    await this.#task(child, () => this.#restarts.shut(child, "stopped"));
    this.#children = this.#children.filter((other) => other !== child);
    this.#endowment.forget(child.id);
  }

  #childOf(spec: CheckedChild): Child {
    const lane = this.#spec.strategy === "one_for_one" ? new Serial() : this.#sharedLane;
    const state = this.#options.observer === undefined ? "stopped" : "waiting";
    const endowment = this.#endowment.of(spec.id);
    endowment.onUse = (used, usd) =>
      this.#ledger.note({ child: spec.id, used, ...(usd === 0 ? {} : { usd }) });
    endowment.onLimits = (limits) => this.#ledger.note({ child: spec.id, limits });
    return new Child(spec, { endowment, lane, state, onState: (child) => this.#ledger.state(child) });
  }

  #require(id: string): Child {
    const found = this.find(id);
    if (found !== undefined) return found;
    const message = `supervisor ${this.name} has no child ${id}`;
    throw new SyscallError({ syscall: "Supervisor", pid: PID_KERNEL, code: "NOT_FOUND", message });
  }

  /** TERM and INT: it ends itself, without a time limit. KILL is handled by the kernel; PAUSE only delays starts. */
  #onSignal(signal: Signal): boolean {
    if (signal !== SIGNALS.SIGTERM && signal !== SIGNALS.SIGINT) return false;
    this.#end({ kind: "signal", exit: signal === SIGNALS.SIGINT ? EXIT.sigint : EXIT.sigterm });
    return true;
  }

  async #run(proc: Process): Promise<ExitStatus> {
    const { supervisors } = this.#core;
    const { abort, killed, pid } = proc;
    this.#runs = new ChildRuns(this.#seatOf(proc), {
      attend: (child) => this.#ledger.attendance(child, this.#options.observer?.attend(child.id) ?? {}),
      exited: (child, run, exit) => void this.#task(child, () => this.#restarts.exited(child, run, exit)),
      shutDown: (child, run, exit) => this.#restarts.wasShutDown(child, run, exit),
    });
    const { comeback } = this.#options;
    this.#restarts = new Restarts(
      this.#restarter(proc),
      this.#spec,
      comeback?.window(this.#core.ports.clock),
    );
    abort.signal.addEventListener("abort", () => this.#end({ kind: "signal", exit: EXIT.sigterm }));
    killed.signal.addEventListener("abort", () => this.#runs.kill());
    supervisors.set(pid, this);
    comeback?.enter(this.#children, this.#runs, this.#core.ports.clock.mono());
    void this.#lanes.keep(this.#open());
    await this.#ended.promise;
    await this.#shutDown();
    supervisors.delete(pid);
    this.#over.resolve();
    return exitOf(this.#ending as Ending);
  }

  #seatOf(supervisor: Process): Seat {
    const core = this.#core;
    const rights = this.#options.rights ?? supervisor;
    return {
      core,
      supervisor,
      rights,
      nest: ({ child, signal }, spec, more) => {
        const { endowment, spec: own } = child;
        const nested = new Supervisor(core, spec, { rights, endowment, nestedAs: own.id });
        return launchSupervisor(core, nested, { caller: supervisor, opts: {}, signal, more });
      },
    };
  }

  #restarter(proc: Process): Restarter {
    const supervisor = this;
    return {
      ports: this.#core.ports,
      runs: this.#runs,
      journal: new CrashJournal(this.#spec, proc, {
        ledger: this.#ledger,
        clock: this.#core.ports.clock,
        events: this.#core.events,
      }),
      get isEnding() {
        return supervisor.isEnding;
      },
      get children() {
        return supervisor.children;
      },
      task: (child, act) => this.#task(child, act),
      keep: (task) => void this.#lanes.keep(task),
      tell: (report) => this.#options.observer?.exited(report),
      cameBack: this.#options.observer?.cameBack ?? null,
      giveUp: (reason) => this.#end({ kind: "escalated", reason }),
      checkDone: () => this.#checkDone(),
    };
  }

  async #open(): Promise<void> {
    const { comeback, observer } = this.#options;
    if (comeback !== undefined) return this.#reopen(comeback);
    const waits = observer !== undefined;
    try {
      for (const child of waits ? [] : this.#children)
        await this.#restarts.start(child, new AbortController());
      // synced before the client is notified that it runs
      if (!waits) await this.#ledger.opened();
    } catch (error) {
      this.#end({ kind: "unstarted", error: error instanceof Error ? error : new Error(messageOf(error)) });
      return;
    }
    this.#lanes.open();
    this.#checkDone();
  }

  /** Treats the runs lost with the daemon as if they had exited now. */
  async #reopen({ fold, departures }: Comeback): Promise<void> {
    const { ending } = fold.kept;
    if (ending !== null) this.#end(endingOf(ending));
    this.#lanes.open();
    await this.#restarts.resume(departures);
    this.#checkDone();
  }

  /** Registers it as the supervisor of this process, before the program begins. */
  resume(proc: Process): void {
    const { comeback } = this.#options;
    if (comeback === undefined) return;
    this.#ledger.resume(proc);
    this.#core.supervisors.set(proc.pid, this);
  }

  /** Takes over a nested supervisor that was restored too. False: it is not, or no longer, a child of this one. */
  adopt(id: string, uuid: ProcUuid, proc: Process): boolean {
    return this.#options.comeback?.adopt(id, uuid, proc) ?? false;
  }

  endowmentOf(id: string): Endowment {
    return this.#endowment.of(id);
  }

  /** The child is ready; others may depend on this. */
  readied(id: string): void {
    this.#ledger.note({ child: id, ready: true });
  }

  /** Records a changed project. */
  rekeep(change: Reshaped): void {
    this.#ledger.reshape(this.#children, change);
  }

  /** Begins to end. Only the first ending counts. */
  #end(ending: Ending): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#ledger.ending(ending);
    for (const child of this.#children) {
      child.starting?.stop.abort(ABORTED);
      child.leaveRound();
    }
    this.#lanes.close(ending.kind === "unstarted" ? ending.error : ended(this.name));
    this.#ended.resolve();
  }

  async #shutDown(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      while (child.starting !== null) await child.starting.over;
      await this.#runs.stop(child);
      if (child.state === "running" || child.state === "restarting") child.state = "stopped";
    }
    await this.#lanes.settled();
  }

  #checkDone(): void {
    if (!this.#spec.exitWhenDone || this.#reshaping > 0) return;
    if (this.#children.every((child) => child.isIdle)) this.#end({ kind: "done" });
  }

  #stopped(child: Child): void {
    child.state = "stopped";
    this.#checkDone();
  }

  /** Runs a task in the lane of the child. Never rejects. */
  #task(child: Child, act: () => Promise<void>): Promise<void> {
    return this.#lanes.run(child.lane, act);
  }

  /** Ends the supervisor after a bug, as its state cannot be trusted any more. */
  #bug(error: unknown): void {
    if (this.isEnding) this.#core.ports.log("error", `supervisor ${this.name}: ${printed(error)}`);
    this.#end({ kind: "bug", error });
  }

  async #call(id: string, act: (child: Child) => Promise<void>): Promise<void> {
    const child = this.#require(id);
    await this.#lanes.call(child.lane, () => {
      if (this.find(id) !== child) throw conflict(`child ${id} was replaced meanwhile`);
      return act(child);
    });
  }
}

function notRunning({ id, state }: Child): SyscallError {
  return conflict(`child ${id} does not run: it is ${state}`);
}
