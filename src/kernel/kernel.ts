/** The kernel: puts its parts together, and is the API for the wires. One instance per daemon. */

import type { AskAnswer, QuestionItem, QuestionOutcome } from "../abi/ask.ts";
import type { Caller, Device } from "../abi/device.ts";
import { SyscallError } from "../abi/errors.ts";
import type { ProcessEvent, SyscallEvent } from "../abi/events.ts";
import { isInternal } from "../abi/fork.ts";
import type { GrantBy } from "../abi/grants.ts";
import { asPid, type CallId, PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { MountView } from "../abi/mcp.ts";
import type { JobView } from "../abi/ops/jobs.ts";
import type { Disposition, ExitStatus, ProcInfo, Signal } from "../abi/process.ts";
import type { Begun } from "../abi/program.ts";
import type { Sys, Syscalls } from "../abi/sys.ts";
import type { TaskPlace } from "../abi/task.ts";
import { Asks } from "../consent/ask/asks.ts";
import { askPerson } from "../consent/ask/questions.ts";
import { Classifications } from "../consent/classify/classifications.ts";
import { makeConsent } from "../consent/consent.ts";
import { Grants } from "../consent/grants/grants.ts";
import { makeRightsControl } from "../consent/grants/rights-control.ts";
import { FileLabels } from "../consent/labels/file-labels.ts";
import { makePlans } from "../consent/plan/plans.ts";
import { makeForks } from "../history/fork/forks.ts";
import { probeCalls } from "../history/fork/probe.ts";
import { fileKeeper } from "../history/fork/snapshot.ts";
import { factsOf } from "../history/recover/early-facts.ts";
import { messagesFrom } from "../history/recover/history-reader.ts";
import { type Recovery, recover } from "../history/recover/recover.ts";
import { makeRequests } from "../history/recover/requests.ts";
import { Snapshots } from "../history/recover/snapshots.ts";
import { isWaking, resume } from "../history/recover/wake.ts";
import { recorded } from "../history/replay/recorder.ts";
import { makeReplays } from "../history/replay/replays.ts";
import { makeViewControl } from "../history/view/control.ts";
import { isUnattended, RestWatch } from "../session/rest-watch.ts";
import { SessionTable } from "../session/session-table.ts";
import { makeProjects } from "../supervise/compose/projects.ts";
import { restoreSupervised } from "../supervise/compose/restored.ts";
import type { ProjectRoster } from "../supervise/compose/roster.ts";
import { spawnSupervisor } from "../supervise/spawn-call.ts";
import { Admission } from "./account/admission.ts";
import { makeBudgets } from "./account/budgets.ts";
import { handlesWith } from "./calls/handle.ts";
import { ClockWatch } from "./clock-watch.ts";
import { ContextSpaces } from "./context/spaces.ts";
import { IntentTable } from "./events/intent-table.ts";
import { JournalledEvents } from "./events/journalled-events.ts";
import { type EndedList, type EndedPage, endedProcesses } from "./facts/ended.ts";
import { attach, attachDebug, spawnWatched, type Waited, type Watched, waitFor } from "./follow.ts";
import type { Consent } from "./gate/consent.ts";
import type { Scope } from "./gate/scope.ts";
import { serverSandbox } from "./gate/servers.ts";
import { HalTable } from "./hal/table.ts";
import { Groups } from "./ipc/groups.ts";
import { JournalWatch } from "./journal-watch.ts";
import { KeptEnds } from "./kept-ends.ts";
import { LIMITS } from "./limits.ts";
import { openLogs } from "./log/logs.ts";
import { completeLogs } from "./native/late-log.ts";
import { NativeTable } from "./native/native-control.ts";
import type { Budgets } from "./ports/budgets.ts";
import type { Forks } from "./ports/forks.ts";
import type { GroupView } from "./ports/groups.ts";
import { KERNEL_UUID, type RecordKind } from "./ports/journal.ts";
import type { AnswerMore, ChildClient, KernelApi } from "./ports/kernel-api.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { ModelAnswering, ModelWish } from "./ports/models.ts";
import type { Plans } from "./ports/plans.ts";
import type { ProcView } from "./ports/proc-view.ts";
import type { Projects } from "./ports/projects.ts";
import type { Replays } from "./ports/replays.ts";
import type { Requests } from "./ports/requests.ts";
import type { RightsControl } from "./ports/rights-control.ts";
import type { Services } from "./ports/services.ts";
import type { LogPiece, Subscription } from "./ports/subscription.ts";
import type { SupervisorControl } from "./ports/supervisors.ts";
import type { ViewControl } from "./ports/view-control.ts";
import type { Trees } from "./ports/worktrees.ts";
import { procViewOf } from "./proc-view.ts";
import { childClient } from "./process/child-client.ts";
import { chooseModel } from "./process/chosen-model.ts";
import { abandonAll } from "./process/end/abandon.ts";
import { endLive, graceOf } from "./process/end/finish.ts";
import { Reaper } from "./process/end/reaper.ts";
import { endAgents, handOver } from "./process/end/report.ts";
import { endAll, endServices } from "./process/end/shutdown.ts";
import { jobOutput, jobsOf, liveJobs } from "./process/jobs.ts";
import { lendEnv } from "./process/lending.ts";
import { noteFacet, pinNote } from "./process/note.ts";
import type { Process } from "./process/process.ts";
import { infoOf } from "./process/process-info.ts";
import { ServiceTable } from "./process/services.ts";
import { Arrival } from "./process/signal/deliver.ts";
import { type Note, notify } from "./process/signal/notify.ts";
import { signalTree } from "./process/signal/signal-tree.ts";
import { ProcessTable } from "./process/table.ts";
import { taskPlaceOf } from "./process/task-place.ts";
import { teamConfig } from "./process/team.ts";
import type { ThreadSeat } from "./process/thread/reason.ts";
import { makeTrees } from "./process/tree/entered.ts";
import { renice } from "./process/weight.ts";
import { type HandleParts, PROGRAM_CALLS, programOf } from "./program.ts";
import { makeRoot } from "./root-process.ts";
import { Scheduler } from "./schedule/scheduler.ts";
import { Mounts } from "./vfs/mounts.ts";
import { DeviceRegistry } from "./vfs/registry.ts";

const handles = handlesWith(spawnSupervisor, PROGRAM_CALLS);

export class Kernel implements KernelApi {
  readonly ports: KernelPorts;
  readonly groups = new Groups((a, b) => this.table.isKin(a, b));
  readonly table = new ProcessTable(
    (a, b) => this.groups.shareOne(a, b),
    (a, b) => this.projects.fellowsOf(a).some(({ pid }) => pid === b.pid),
  );
  readonly devices = new DeviceRegistry();
  readonly contexts = new ContextSpaces();
  readonly mounts: Mounts<Process>;
  readonly supervisors = new Map<Pid, SupervisorControl>();
  readonly projects: Projects & ProjectRoster = makeProjects(() => this);
  readonly natives = new NativeTable(() => this.ports);
  readonly runs = this.table;
  readonly events: JournalledEvents;
  readonly intents: IntentTable;
  readonly hal: HalTable;
  readonly services: Services = new ServiceTable(() => this);
  readonly sessions = new SessionTable(() => this);
  readonly views: ViewControl = makeViewControl(() => this);
  readonly messagesOf = messagesFrom(() => this.ports.journal);
  readonly forks: Forks = makeForks(() => this);
  readonly requests: Requests = makeRequests(() => this);
  readonly budgets: Budgets = makeBudgets(() => this);
  readonly admission = new Admission(() => this);
  readonly #rest: RestWatch;
  readonly replays: Replays = makeReplays(
    () => this,
    (ports) => new Kernel(ports),
  );
  readonly rights: RightsControl = makeRightsControl(() => this);
  readonly plans: Plans = makePlans(() => this);
  readonly trees: Trees = makeTrees(() => this);
  readonly asks: Asks;
  readonly grants: Grants;
  readonly consent: Consent;
  readonly classifications = new Classifications(() => this);
  readonly journalWatch: JournalWatch;
  readonly keptEnds: KeptEnds;
  readonly clockWatch: ClockWatch;
  readonly scheduler: Scheduler;
  readonly snapshots: Snapshots;
  readonly fileLabels: FileLabels;
  /** pid 0. It is not in the table. */
  readonly root: Process;
  readonly init: Syscalls;
  readonly #reaper: Reaper;
  #pid: number;
  #message: number;
  #pipe = 0;
  #accepting = true;
  #shutdown: Promise<void> | null = null;

  constructor(ports: KernelPorts) {
    this.ports = ports;
    this.asks = new Asks(ports);
    this.events = new JournalledEvents(ports);
    this.intents = new IntentTable(() => this, this.events);
    this.hal = new HalTable(ports, this.events);
    this.mounts = new Mounts(this, (owner, config) => serverSandbox(this, owner, config));
    this.fileLabels = new FileLabels(ports.journal);
    this.#rest = new RestWatch(
      () => this,
      () => ports.sessionRestMs?.() ?? LIMITS.sessionRestMs,
    );
    this.journalWatch = new JournalWatch(ports);
    this.grants = new Grants(ports, this.table, this.journalWatch);
    this.snapshots = new Snapshots(ports);
    this.keptEnds = new KeptEnds(ports);
    this.clockWatch = new ClockWatch(ports);
    this.scheduler = new Scheduler(ports.clock);
    this.consent = makeConsent(this);
    this.#pid = ports.journal.highestPid();
    this.#message = ports.journal.highestMessage();
    this.root = makeRoot(ports);
    this.init = this.handle(this.root, null);
    this.#reaper = new Reaper(() => this);
  }

  get accepting(): boolean {
    return this.#accepting;
  }

  mount(path: string, device: Device): void {
    this.devices.register(path, device);
  }

  nextPid(): Pid {
    if (this.#pid >= Number.MAX_SAFE_INTEGER) {
      throw new SyscallError({
        syscall: "Spawn",
        pid: PID_KERNEL,
        code: "INTERNAL",
        message: "out of pids",
      });
    }
    return asPid(++this.#pid);
  }

  offer(proc: Process, when: "now" | "seen"): void {
    this.#reaper.offer(proc, when);
    this.idle(proc);
  }

  idle(proc: Process): void {
    this.#rest.idle(proc);
  }

  restNow(proc: Process): boolean {
    return this.#rest.now(proc);
  }

  forget(proc: Process): void {
    this.#reaper.forget(proc);
    const parent = this.table.get(proc.ppid);
    if (isInternal(proc.seed.fork?.label) && parent !== undefined) this.idle(parent);
  }

  nextMessage(): number {
    return ++this.#message;
  }

  nextPipe(): number {
    return ++this.#pipe;
  }

  note(proc: Process, kind: RecordKind, body: unknown): void {
    this.ports.journal.note([{ proc: proc.seed.uuid, pid: proc.pid, kind, v: 1, body }]);
    this.snapshots.noted(proc);
  }

  handle(self: Process, scope: Scope | null, signal?: AbortSignal): Syscalls {
    return handles.of({ core: this, self, scope, ofThread: signal });
  }

  programHandle(self: Process, { ofThread, ...parts }: HandleParts): Sys {
    return handles.ofProgram({ core: this, self, scope: null, ofThread }, parts);
  }

  program(proc: Process, seat?: ThreadSeat): Begun {
    return programOf(this, proc, seat);
  }

  taped(proc: Process, run: () => Promise<ExitStatus>): Promise<ExitStatus> {
    return recorded(this, proc, run);
  }

  changing(self: Process, call: CallId | undefined): Caller["changing"] {
    return fileKeeper(this, self, call);
  }

  deliver(proc: Process, signal: Signal, graceMs?: number): Promise<Disposition> {
    return new Arrival(this, proc, signal).deliver(graceMs);
  }

  end(proc: Process, exit: ExitStatus): void {
    proc.ending.decide(exit);
    endLive(this, proc, graceOf(proc));
  }

  /** The process is in memory, or being brought there. */
  holds(pid: Pid): boolean {
    return this.table.get(pid) !== undefined || isWaking(this, pid);
  }

  get osChildren(): number {
    return this.ports.exec.live;
  }

  listGroups(): readonly GroupView[] {
    return this.groups.list();
  }

  listMounts(): readonly MountView[] {
    return this.mounts.list();
  }

  listDevices(): readonly string[] {
    return this.devices.list();
  }

  supervisor(pid: Pid): SupervisorControl {
    const found = this.supervisors.get(pid);
    if (found !== undefined) return found;
    const message = `no supervisor runs with pid ${pid}`;
    throw new SyscallError({ code: "NOT_FOUND", syscall: "Supervisor", pid: PID_KERNEL, message });
  }

  attach(pid: Pid, how: Parameters<KernelApi["attach"]>[1]): Subscription<ProcessEvent> {
    return attach(this, pid, how);
  }

  logs(pid: Pid, options: { tail: number; follow: boolean }): Promise<Subscription<LogPiece>> {
    return openLogs(this, pid, options);
  }

  signalTree(pid: Pid, signal: Signal): Promise<Pid[]> {
    return signalTree(this, pid, signal);
  }

  async pin(pid: Pid, change?: { readonly text: string; readonly by: GrantBy }): Promise<string> {
    if (change !== undefined) await pinNote(this, pid, change);
    return (this.table.get(pid)?.facts ?? (await factsOf(this.ports.journal, pid))).of(noteFacet);
  }

  renice(pid: Pid, change: { readonly weight: number; readonly by: GrantBy }): Promise<void> {
    return renice(this, pid, change);
  }

  handOver(pid: Pid): Promise<readonly Pid[]> {
    return handOver(this, pid);
  }

  async endBackground(pid: Pid, what: readonly ("agents" | "jobs")[]): Promise<void> {
    if (what.includes("agents")) endAgents(this, pid);
    const proc = this.table.get(pid);
    if (what.includes("jobs") && proc !== undefined) await this.ports.jobs?.endAll(proc.seed.uuid);
  }

  chooseModel(pid: Pid, wish: ModelWish): Promise<ModelAnswering> {
    return chooseModel(this, pid, wish);
  }

  lendEnv(pid: Pid, env: Readonly<Record<string, string>>): void {
    this.journalWatch.check("Signal");
    lendEnv(this.table.get(pid), env);
  }

  async resume(pid: Pid, env?: Readonly<Record<string, string>>): Promise<ProcInfo> {
    return this.info(await resume(this, pid, env));
  }

  spawnWatched(...[intent, agent, opts]: Parameters<KernelApi["spawnWatched"]>): Promise<Watched> {
    return spawnWatched(this, { intent, agent, opts });
  }

  attachDebug(pid: Pid, options: { all: boolean }): Subscription<SyscallEvent> {
    return attachDebug(this, pid, options);
  }

  waitFor(pid: Pid, signal: AbortSignal): Promise<Waited> {
    return waitFor(this, pid, signal);
  }

  ended(page: EndedPage): Promise<EndedList> {
    return endedProcesses(this, page);
  }

  async answer(askId: string, answer: AskAnswer, words = "", more: AnswerMore = {}): Promise<string> {
    this.journalWatch.check("Answer");
    const { by, ...reply } = more;
    return this.asks.answer(askId, { answer, words, ...reply }, by);
  }

  /** A question of an agent to the user, through a device. NOT_FOUND: no such process. */
  askPerson(pid: Pid, items: readonly QuestionItem[], signal: AbortSignal): Promise<QuestionOutcome> {
    const proc = this.table.require(PID_KERNEL, pid, "Ask", "see");
    return askPerson({ core: this, proc, items }, signal);
  }

  /** Sends a process a note about something of its own. False: it was not delivered, and that is logged. */
  async notify(pid: Pid, note: string | Note): Promise<boolean> {
    const proc = this.table.get(pid);
    return proc !== undefined && notify(this, proc, note);
  }

  /** The task list of a process, and its leader; null: no such process. */
  taskPlace(pid: Pid): TaskPlace | null {
    return taskPlaceOf(this, pid);
  }

  /** The team of a process, as files show it; null: it is in none. */
  team(pid: Pid): ReturnType<typeof teamConfig> {
    return teamConfig(this, pid);
  }

  /** True if it has ended or never existed; a resting process has not ended. */
  async hasEnded(pid: Pid): Promise<boolean> {
    if (this.table.get(pid) !== undefined) return this.table.get(pid)?.isLive !== true;
    const uuid = await this.ports.journal.processOf(pid);
    const row = uuid === undefined ? undefined : await this.ports.journal.row(uuid);
    return row === undefined || row.exit !== null;
  }

  /** The process may be idle from now on. */
  rested(pid: Pid): void {
    const proc = this.table.get(pid);
    if (proc !== undefined) this.idle(proc);
  }

  jobs(pid?: Pid): Promise<readonly JobView[]> {
    return jobsOf(this, pid);
  }

  jobOutput(
    pid: Pid,
    id: string,
    options: { from: number; isFollowed: boolean; signal: AbortSignal },
  ): AsyncIterable<Uint8Array> {
    return jobOutput(this, pid, id, options);
  }

  clientOf(uuid: string): ChildClient | undefined {
    return childClient(this, uuid);
  }

  noticeOf(pid: Pid): string {
    return this.table.get(pid)?.model.notice ?? "";
  }

  active(): number {
    let count = 0;
    for (const proc of this.table.all())
      if (proc.isLive && proc.seed.body.isActive && (!isUnattended(proc) || liveJobs(this, proc) > 0))
        count++;
    return count;
  }

  isWorking(): boolean {
    for (const proc of this.table.all()) if (proc.seed.body.isActive && proc.isWorking) return true;
    return false;
  }

  shutdown(graceMs: number): Promise<void> {
    this.#shutdown ??= this.#end(graceMs);
    return this.#shutdown;
  }

  abandon(words: string): Promise<void> {
    this.#accepting = false;
    this.#reaper.close();
    this.#rest.close();
    this.admission.close();
    return abandonAll(this, words);
  }

  async #end(graceMs: number): Promise<void> {
    this.#accepting = false;
    this.#reaper.close();
    await endAll(this, graceMs);
    this.admission.close();
    await this.mounts.unmountAll();
    await endServices(this);
    await this.devices.close();
    this.hal.close();
    this.ports.journal.note([
      { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "kernel.shutdown", v: 1, body: {} },
    ]);
  }

  info(proc: Process): ProcInfo {
    const info = infoOf(proc, this.groups.of(proc), this.ports.clock.mono());
    const queue = proc.halt.isQueued ? this.admission.placeOf(proc) : undefined;
    return queue === undefined ? info : { ...info, queue };
  }

  /** The content of /proc. */
  view(): ProcView {
    return procViewOf(this);
  }

  /** Restores what the last daemon left. Called once, before the socket opens. */
  async recover(): Promise<Recovery> {
    await this.grants.recover();
    await this.fileLabels.recover();
    await this.mounts.bringBack();
    const recovery = await recover(this, {
      restoreSupervisor: (left) => restoreSupervised(this, left),
      probe: (intents) => probeCalls(this, intents),
    });
    // by now the secrets of what was restored are known
    await completeLogs(this.ports);
    return recovery;
  }
}
