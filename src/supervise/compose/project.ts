/**
 * A running compose project: one supervisor, whose children are the replicas of the services. This file decides from
 * the dependencies when a child starts; the supervisor keeps it running.
 */
import type { ComposeProject, ProjectEvent, ProjectView } from "../../abi/compose/compose.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { CrashReport } from "../../abi/supervise.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { ProjectSource, ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { reapProcess } from "../../kernel/process/end/reap.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { Attendance } from "../child-runs.ts";
import { sendKill, sendTerm } from "../end-process.ts";
import { conflict } from "../ending.ts";
import { launchSupervisor } from "../launch.ts";
import { type Supervising, Supervisor } from "../supervisor.ts";
import { idOf, planChange } from "./change.ts";
import { type Outlook, outlookOf } from "./conditions.ts";
import { ProjectFeed } from "./feed.ts";
import { type KeptProject, keptProject } from "./kept.ts";
import { ProjectPipes } from "./pipes.ts";
import type { Replica, ReplicaHost } from "./replica.ts";
import { childOf, heldChild, ProjectReplicas } from "./replicas.ts";
import type { ProjectComeback } from "./restored.ts";
import type { RunningProject } from "./roster.ts";
import { endOf, selectedOf, viewOf } from "./view.ts";

/** What a project needs of the kernel. */
export type ProjectKernel = Supervising & {
  readonly ports: Pick<KernelPorts, "nonce" | "spools">;
  readonly root: Process;
};

/**
 * The exit reason of a program whose reader is gone. This is not a failure; if the reader failed, its own exit shows
 * it.
 */
const UNREAD = "killed: SIGPIPE";

export class Project implements RunningProject {
  readonly name: string;
  readonly feed = new ProjectFeed();
  readonly #core: ProjectKernel;
  readonly supervisor: Supervisor;
  readonly #pipes: ProjectPipes;
  readonly #over = Promise.withResolvers<void>();
  /** Tasks in progress; `over` resolves after they have finished. */
  readonly #tasks = new Set<Promise<void>>();
  readonly #replicas: ProjectReplicas;
  /** Exit codes of failed replicas by id, in the order of failure. */
  readonly #failures = new Map<string, number>();
  /** Part of the digests of its definitions, so that they cannot be compared with other projects. */
  readonly #salt: string;
  #source: ProjectSource | null;
  /** Its services may send messages to one another. */
  #messages: boolean;
  /** It is from an earlier daemon, and which replicas are started again is not decided yet. */
  #isResuming: boolean;
  /** Its services have the environment of the daemon, until a client lends its own. */
  #isBare: boolean;
  /** Events are published for replicas that wait. */
  #tellsWaits = false;
  #proc: Process | null = null;
  #isOver = false;
  /** Why it failed; "": it did not fail, or the user ended it. */
  #failure = "";

  /** Nothing runs before start() or resume(). NOT_FOUND: no such service. */
  constructor(core: ProjectKernel, request: ProjectUp, restored: ProjectComeback | null = null) {
    this.#core = core;
    this.#salt = restored?.kept.salt ?? core.ports.nonce();
    this.#source = restored?.kept.source ?? request.source ?? null;
    this.#messages = request.project.messages;
    this.#isResuming = restored !== null;
    this.#isBare = restored !== null;
    this.name = request.project.name;
    const { clock, spools, nonce, log } = core.ports;
    this.#pipes = new ProjectPipes(
      () => spools.open(`pipe-${nonce()}`, "refuse"),
      (message) => log("warn", `project ${this.name}: ${message}`),
    );
    const host: ReplicaHost = {
      clock,
      publish: (event) => this.feed.publish(event),
      changed: () => this.#evaluate(),
      ready: ({ id }) => this.supervisor.readied(id),
      late: ({ id }) => this.#failed(id, 1),
      inletOf: (service) => this.#pipes.inletOf(service),
      outletsOf: (service, stream) => this.#pipes.outletsOf(service, stream),
    };
    this.#replicas = new ProjectReplicas(host);
    this.#replicas.begin(request.project, selectedOf(request));
    this.supervisor = this.#makeSupervisor(request, restored);
  }

  get pid(): Pid {
    return this.#process.pid;
  }

  get isEnding(): boolean {
    return this.supervisor.isEnding;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  get view(): ProjectView {
    const mono = this.#core.ports.clock.mono();
    const replicas = [...this.#replicas].map((replica) =>
      viewOf(replica, this.supervisor.find(replica.id), { isOver: this.#isOver, mono }),
    );
    const failure = this.#failure === "" ? {} : { failure: this.#failure };
    return { project: this.name, pid: this.pid, replicas, ...failure };
  }

  /**
   * The running agents that its supervisor has started and is not stopping; the place of a process in the tree, its
   * name and its own children do not matter. Programs are not members: they read no messages, and the origin of what
   * they write is unknown.
   */
  get members(): readonly Member[] {
    if (this.isEnding) return [];
    return this.supervisor.children.flatMap(({ id, run }) => {
      const replica = this.#replicas.find(id);
      if (replica === undefined || run?.proc?.isLive !== true || run.stopping !== null) return [];
      const { service, n } = replica;
      if (service.program.kind !== "agent") return [];
      const of = { project: this.name, service: service.name, replica: n };
      return [{ ...of, pid: run.pid, mayWrite: this.#messages }];
    });
  }

  /** Continues a project of an earlier daemon; `proc` is its restored supervisor process. */
  resume(proc: Process, { pipes }: ComposeProject): void {
    const prepared = this.#pipes.prepare(pipes, (service) => this.#replicas.has(service), new Set());
    this.#own(this.#pipes.adopt(pipes, prepared));
    this.#proc = proc;
    this.feed.publish({ event: "up", project: this.name, pid: proc.pid });
    void this.#awaitEnd(proc);
  }

  rejoin(env: ProjectUp["env"]): Subscription<ProjectEvent> {
    if (this.#isBare) this.#lend(env);
    return this.feed.rejoin();
  }

  watch(): Subscription<ProjectEvent> {
    return this.feed.watch();
  }

  /** Resolves when its supervisor runs; the services start afterwards. When it rejects, nothing is left. */
  async start({ project, request }: ProjectUp): Promise<void> {
    const prepared = this.#pipes.prepare(project.pipes, (service) => this.#replicas.has(service), new Set());
    await this.#pipes.adopt(project.pipes, prepared);
    const { root } = this.#core;
    const { budgetTokens: contextBudget, budgetUsd: usd } = project;
    const budget = usd === undefined ? {} : { usd };
    const marked = request === undefined ? {} : { request };
    const opts = { contextBudget, budget, permissionMode: "bypass", ...marked } as const;
    try {
      this.#proc = await launchSupervisor(this.#core, this.supervisor, {
        caller: root,
        opts,
        signal: root.abort.signal,
      });
    } catch (error) {
      await this.#pipes.close();
      throw error;
    }
    void this.#awaitEnd(this.#process);
    this.#own(this.#bringUp([...this.#replicas]));
  }

  change(request: ProjectUp): Promise<void> {
    const changing = this.#change(request);
    const settled = changing.catch(() => {});
    this.#own(settled);
    return changing;
  }

  async down(timeoutMs: number): Promise<void> {
    sendTerm(this.#core, this.#process, timeoutMs);
    await this.#gone();
  }

  async kill(): Promise<void> {
    sendKill(this.#core, this.#process);
    await this.#gone();
  }

  async #change({ project, services, removeOrphans, env, source, request }: ProjectUp): Promise<void> {
    const selected = selectedOf({ project, services });
    const change = planChange(
      this.#replicas.standing((id) => this.#isIdle(id)),
      project,
      { selected, removeOrphans },
    );
    const starting = new Set(change.start.map(idOf));
    const staysOrStarts = (service: string): boolean =>
      selected.has(service) || (this.#replicas.has(service) && !change.stop.includes(service));
    const prepared = this.#pipes.prepare(project.pipes, staysOrStarts, change.fresh);
    const after = this.#replicas.after(project, change);
    const added = after.filter(({ id }) => starting.has(id));
    this.#tellsWaits = false;
    // a right removed by the file is removed at once; a new one counts once it is recorded
    this.#messages &&= project.messages;
    for (const id of change.leave) this.#dismiss(id);
    await this.supervisor.reshape(
      change.leave,
      added.map(({ service, n }) => childOf(service, n, env)),
      after.map(({ id }) => id),
    );
    this.#replicas.seat(after);
    if (this.#isBare) this.#lend(env);
    this.#source = source ?? null;
    this.#messages = project.messages;
    this.supervisor.rekeep({ project: this.#kept(), added: starting, request });
    const adopted = this.#pipes.adopt(project.pipes, prepared);
    if (!this.isEnding) this.#own(this.#bringUp(added));
    await Promise.all([adopted, this.#core.ports.journal.sync()]);
    if (this.isEnding) throw conflict(`project ${this.name} has ended meanwhile; bring it up again`);
  }

  get #process(): Process {
    if (this.#proc === null) throw new Error("the project was not started");
    return this.#proc;
  }

  async #gone(): Promise<void> {
    await this.over;
    await reapProcess(this.#core, this.#process);
  }

  /** From now on, replicas start with the environment of a client. */
  #lend(env: ProjectUp["env"]): void {
    this.#isBare = false;
    for (const { id, service, n } of this.#replicas) {
      const child = this.supervisor.find(id);
      if (child !== undefined && child.spec.start.kind !== "withheld") child.spec = childOf(service, n, env);
    }
  }

  #kept(): KeptProject {
    const messages = this.#messages ? { messages: true as const } : {};
    const { name } = this;
    return keptProject(
      { name, source: this.#source, salt: this.#salt, ...messages },
      this.#replicas.signatures,
    );
  }

  #makeSupervisor({ project, env }: ProjectUp, restored: ProjectComeback | null): Supervisor {
    const { name, intensity, backoff } = project;
    const replicas = [...this.#replicas];
    const children = replicas.map(({ id, service, n }) => {
      const reason = restored?.withheld.get(service.name);
      if (restored !== null) this.#replicas.get(id).restore(restored.comeback.fold.find(id), reason);
      return reason === undefined ? childOf(service, n, env) : heldChild(id, reason);
    });
    const strategy = "one_for_one" as const;
    const spec = { name: `compose:${name}`, strategy, intensity, backoff, exitWhenDone: true, children };
    const observer = {
      attend: (id: string) => this.#attend(id),
      exited: (report: CrashReport) => this.#exited(report, intensity.maxRestarts),
      cameBack: (ids: readonly string[]) => this.#cameBack(ids),
    };
    // the user's project: its services run as if the user had started each
    const rights = this.#core.root;
    if (restored === null)
      return new Supervisor(this.#core, spec, { rights, observer, project: this.#kept() });
    const { comeback, endowment } = restored;
    return new Supervisor(this.#core, spec, { rights, observer, comeback, endowment });
  }

  #attend(id: string): Attendance {
    const replica = this.#replicas.get(id);
    return {
      ...replica.attend(),
      ...(this.#messages ? { note: this.#replicas.fellowNote(this.name, replica) } : {}),
    };
  }

  /** Whether a replica neither runs nor waits for a start; one that has completed with 0 is not idle. */
  #isIdle(id: string): boolean {
    const child = this.supervisor.find(id);
    if (child === undefined) return true;
    return child.isIdle && !(child.state === "done" && child.lastExit?.code === 0);
  }

  /** Removes a replica from the starts, and forgets its failure. */
  #dismiss(id: string): void {
    const replica = this.#replicas.get(id);
    replica.isReleased = true;
    replica.close();
    this.#failures.delete(id);
  }

  async #bringUp(replicas: readonly Replica[]): Promise<void> {
    const services = new Set(replicas.map(({ service }) => service.name)).size;
    this.feed.publish({ event: "starting", project: this.name, services });
    const free = replicas.filter((replica) => this.#outlook(replica).kind === "go");
    await Promise.all(free.map((replica) => this.#release(replica)));
    if (this.isEnding) return;
    this.#tellsWaits = true;
    this.#evaluate();
    this.feed.publish({ event: "up", project: this.name, pid: this.pid });
  }

  #outlook({ service }: Replica): Outlook {
    return outlookOf(service.dependsOn, (name) => this.#replicas.of(name));
  }

  #release(replica: Replica): Promise<void> {
    replica.isReleased = true;
    return this.supervisor.release(replica.id);
  }

  /**
   * Starts replicas whose conditions hold, and skips those whose conditions cannot hold any more; repeats if others
   * depend on them.
   */
  #evaluate(): void {
    if (this.isEnding || this.#isResuming) return;
    for (let isSettled = false; !isSettled; ) {
      isSettled = true;
      for (const replica of this.#replicas) {
        if (replica.isReleased || replica.isSkipped) continue;
        const outlook = this.#outlook(replica);
        if (outlook.kind === "go") this.#own(this.#release(replica));
        else if (outlook.kind === "wait") this.#tellWait(replica, outlook);
        else {
          this.#skip(replica, outlook.reason);
          isSettled = false;
        }
      }
    }
    this.#pipes.settle((service) =>
      this.#replicas.of(service).every(({ isOver, isSkipped }) => isOver || isSkipped),
    );
  }

  #tellWait(replica: Replica, { on, condition }: Extract<Outlook, { kind: "wait" }>): void {
    if (!this.#tellsWaits || replica.waitsOn === on) return;
    replica.waitsOn = on;
    this.feed.publish({ event: "waiting", child: replica.id, on, condition });
  }

  #skip(replica: Replica, reason: string): void {
    replica.isSkipped = true;
    replica.note = reason;
    this.feed.publish({ event: "skipped", child: replica.id, reason });
    this.supervisor.skip(replica.id);
  }

  #exited({ child: id, pid, exit, cause, decision, delayMs, restarts }: CrashReport, max: number): void {
    const replica = this.#replicas.find(id);
    if (replica === undefined) return;
    const { code, reason } = exit;
    if (pid !== replica.pid)
      this.feed.publish({ event: "log", child: id, text: `could not start: ${cause}` });
    this.feed.publish({ event: "exited", child: id, code, reason });
    replica.exited(code);
    if (this.#isResuming && decision === "restart") replica.comeBack();
    if (decision === "restart") this.feed.publish({ event: "restarting", child: id, delayMs, restarts, max });
    replica.isOver = decision === "drop" || decision === "escalate";
    const isUnread = reason === UNREAD && !replica.hasOverflown;
    if (replica.isOver && code !== 0 && !isUnread) this.#failed(id, code);
    else this.#evaluate();
  }

  /** The restored replicas wait for their dependencies as at a first start. */
  #cameBack(ids: readonly string[]): void {
    for (const id of ids) this.#replicas.get(id).comeBack();
    this.#isResuming = false;
    this.#evaluate();
  }

  #failed(id: string, code: number): void {
    if (!this.#failures.has(id)) this.#failures.set(id, code);
    this.#evaluate();
  }

  async #awaitEnd(proc: Process): Promise<void> {
    const exit = await proc.done.promise.catch(() => null);
    // the kernel abandoned all processes (abandon.ts): the project continues in the next daemon
    if (exit === null) return;
    await this.supervisor.over;
    for (const replica of this.#replicas) replica.close();
    await Promise.allSettled(this.#tasks);
    await this.#pipes.close();
    this.#isOver = true;
    const [[failed, code] = ["", 0]] = this.#failures;
    const elapsedMs = proc.elapsedMs(this.#core.ports.clock.mono());
    const end = endOf(this.name, exit, { code, tokens: proc.seed.account.view().used, elapsedMs });
    if (end.event === "failed") this.#failure = end.reason;
    else if (end.event === "done" && failed !== "") this.#failure = `${failed} failed (exit code ${code})`;
    this.feed.publish(end);
    this.feed.end();
    this.#over.resolve();
  }

  /** Registers a task that is waited for at the end. The task must not reject. */
  #own(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }
}
