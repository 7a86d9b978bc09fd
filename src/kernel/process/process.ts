/**
 * One process: what it was given (its seed), the state of its life, and what belongs to it alone and ends with it. The
 * rules of each part stand in the file of that part; here the parts are held together.
 */
import type { LogEntry, ProcessEvent } from "../../abi/events.ts";
import type { Notice } from "../../abi/fact.ts";
import { type ForkOffer, type ForkPrefix, isInternal } from "../../abi/fork.ts";
import { type CtxId, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ExitStatus, PermissionMode, ProcessState } from "../../abi/process.ts";
import type { Refusal } from "../../abi/refusal.ts";
import { isWithin } from "../../lib/path.ts";
import { Serial } from "../../lib/serial.ts";
import { Facts } from "../facts/facet.ts";
import { Mailbox } from "../ipc/mailbox.ts";
import { SignalState } from "../ipc/signal-state.ts";
import { labelsFacet } from "../labels/facet.ts";
import { DebugChannel } from "../log/debug-channel.ts";
import { LogChannel } from "../log/log-channel.ts";
import { logLine } from "../log/log-line.ts";
import { Watchers } from "../log/watchers.ts";
import type { Tape } from "../ports/tape.ts";
import { FdTable } from "../vfs/fd-table.ts";
import { Conversation } from "./conversation.ts";
import { Ending } from "./life/ending.ts";
import { Halt, type Reason } from "./life/halt.ts";
import { LifeCycle } from "./life/life-cycle.ts";
import { Work } from "./life/work.ts";
import { ModelSeat } from "./model-seat.ts";
import { OwnContexts } from "./own-contexts.ts";
import { OwnUse } from "./own-use.ts";
import { Past } from "./past.ts";
import type { ProcessSeed } from "./process-seed.ts";
import { ModeDial } from "./rights/mode-dial.ts";
import { SeenFileSet } from "./seen-file-set.ts";
import { Coroutines } from "./thread/coroutines.ts";
import type { ThreadSet } from "./thread/thread-set.ts";
import { enteredFacet } from "./tree/entered.ts";
import { weightFacet } from "./weight.ts";

export class Process {
  readonly seed: ProcessSeed;
  readonly pid: Pid;
  readonly fds: FdTable;
  readonly watchers = new Watchers();
  /** The durable facts it holds; each is changed by its owner alone, with a record. */
  readonly facts = new Facts();
  /** Refusals of the run in progress, or of the only run. */
  readonly refusals = new RefusalList();
  /** null: the process has a single run and ends with it. */
  readonly conversation: Conversation | null;
  /** What a thread writes to the shared context in one unit is not interleaved. */
  readonly units = new Serial();
  readonly dial: ModeDial;
  /** Redacts secrets in text that others read. */
  readonly wording: (text: string) => string;
  readonly used = new OwnUse();
  /** What the process has seen of files. */
  readonly seen = new SeenFileSet();
  readonly contexts = new OwnContexts();
  readonly past = new Past();
  readonly model = new ModelSeat();
  readonly abort = new AbortController();
  /** While calls of a reply run that start forks of it. */
  forkOffer: ForkOffer | null = null;
  /** What its last request began with; null: it has made none in this daemon. */
  asideOffer: ForkPrefix | null = null;
  /** Aborted at KILL, together with `abort` or after it. */
  readonly killed = new AbortController();
  /** Resolves at the exit; rejects with the error of a failed spawn, or UNAVAILABLE when the process leaves memory. */
  readonly done = Promise.withResolvers<ExitStatus>();
  #debug: DebugChannel | null = new DebugChannel();
  #logs: LogChannel | null = new LogChannel();
  #keepLine: ((entry: LogEntry) => void) | null = null;
  // the fields below are created on first use: most processes need none of them
  #wakers: Set<() => void> | null = null;
  #signals: SignalState | null = null;
  #mailbox: Mailbox | null = null;
  #threads: ThreadSet | null = null;
  #mounts: Set<string> | null = null;
  #added: readonly string[] | null = null;
  #ppid: Pid;
  #awaiting = 0;
  #steps = 0;
  #result = "";
  #tape: Tape | null = null;
  #coroutines: Coroutines | null = null;
  readonly work = new Work(() => this.isWorking);
  readonly life: LifeCycle;
  readonly halt = new Halt(() => this.work.check());
  readonly ending = new Ending();

  constructor(seed: ProcessSeed, ppid: Pid) {
    this.seed = seed;
    this.pid = seed.pid;
    this.#ppid = ppid;
    this.dial = new ModeDial(seed.mode);
    this.wording = seed.wording ?? ((text) => text);
    this.life = new LifeCycle(seed.pid, () => this.work.check());
    this.fds = new FdTable(seed.pid);
    this.conversation = seed.isSession === true ? new Conversation() : null;
    // for most processes nobody awaits the rejection of a failed spawn
    this.done.promise.catch(() => {});
  }

  get ppid(): Pid {
    return this.#ppid;
  }

  /** Nobody is bound to wait for its end: an internal fork owes its parent nothing. */
  get isLeft(): boolean {
    return this.#ppid === PID_KERNEL || isInternal(this.seed.fork?.label);
  }

  /** Where it works: an absolute host path. */
  get cwd(): string {
    return this.facts.of(enteredFacet)?.path ?? this.seed.cwd;
  }

  /** Directories that it works in, cwd first. */
  get roots(): readonly string[] {
    const worktree = this.facts.of(enteredFacet);
    const roots = this.givenRoots;
    return worktree === null
      ? roots
      : [worktree.path, ...roots.filter((dir) => !isWithin(worktree.main, dir))];
  }

  /** Those of its spawn, and what the user has added since; in a worktree that it has entered they are not all open. */
  get givenRoots(): readonly string[] {
    return this.#added === null ? this.seed.roots : [...this.seed.roots, ...this.#added];
  }

  /** Real paths, recorded already. Those below it that are running keep what they have. */
  addRoots(dirs: readonly string[]): void {
    const roots = this.givenRoots;
    this.#added = [...(this.#added ?? []), ...dirs.filter((dir) => !roots.includes(dir))];
  }

  get mode(): PermissionMode {
    return this.dial.mode;
  }

  /** The result so far. */
  get result(): string {
    return this.#result;
  }

  /** Records or replays the inputs of its program while that runs; null: neither. */
  get tape(): Tape | null {
    return this.#tape;
  }

  /** Its share of the models that others wait for too. */
  get weight(): number {
    return this.facts.of(weightFacet);
  }

  /** Steps of its program, and of its threads, under this daemon. */
  get steps(): number {
    return this.#steps;
  }

  stepped(): void {
    this.#steps++;
  }

  /** Another process waits for its end. */
  get isAwaited(): boolean {
    return this.#awaiting > 0;
  }

  /** The returned function ends it. */
  awaited(): () => void {
    this.#awaiting++;
    return () => void this.#awaiting--;
  }

  /** The kernel is its parent once its own parent was reaped, until that comes back. */
  fallTo(parent: Pid): void {
    this.#ppid = parent;
  }

  /** Sets the result; ignored after the end of the process. */
  conclude(result: string): void {
    if (this.isLive) this.#result = result;
  }

  /** Sets the tape that replays or records the program; null: none. */
  runOn(tape: Tape | null): void {
    this.#tape = tape;
  }

  get state(): ProcessState {
    return this.life.state;
  }

  /** Its main context; 0: none. */
  get ctxId(): CtxId {
    return this.contexts.main;
  }

  get isLive(): boolean {
    return this.life.isLive;
  }

  get exit(): ExitStatus | null {
    return this.life.exit;
  }

  get isPaused(): boolean {
    return this.halt.isPaused;
  }

  /** The origins of the data it has read. */
  get labels(): readonly Label[] {
    return this.facts.of(labelsFacet);
  }

  get liveCoroutines(): number {
    return this.#coroutines?.live ?? 0;
  }

  /** Made on first use. */
  get coroutines(): Coroutines {
    this.#coroutines ??= new Coroutines(this.abort.signal);
    return this.#coroutines;
  }

  /** `loop` runs the program, its clean-up and the finish; it never rejects. */
  start(mono: number, loop?: () => Promise<void>): void {
    this.life.start(() => {
      this.halt.time.start(mono);
      return loop?.() ?? Promise.resolve();
    });
  }

  /** Holds the program at its next step. Idempotent. */
  pause(mono: number, why?: Reason): void {
    if (this.halt.pause(mono, why)) this.tell({ event: "paused", pid: this.pid, isPaused: true }, mono);
  }

  resume(mono: number): void {
    if (this.halt.resume(mono)) this.tell({ event: "paused", pid: this.pid, isPaused: false }, mono);
  }

  /** Whether it runs and nothing holds it. A session that waits for its user does not work. */
  get isWorking(): boolean {
    const { now, activity } = this.life;
    const waits = activity === "idle" || (this.conversation !== null && activity === "waiting");
    const runs = now.is === "running" || now.is === "finishing";
    return runs && this.halt.why === null && !this.halt.isQueued && this.halt.openAsks === 0 && !waits;
  }

  /** null after reaping step 4: late events are skipped. */
  get debug(): DebugChannel | null {
    return this.#debug;
  }

  /** null after reaping step 4. */
  get logs(): LogChannel | null {
    return this.#logs;
  }

  /** Sets the fields to null before closing the channels, so that no late event reaches a closed channel. */
  closeChannels(): void {
    const [debug, logs] = [this.#debug, this.#logs];
    this.#debug = null;
    this.#logs = null;
    debug?.close();
    logs?.end();
  }

  /** For a process that acts for another: its calls go into the trace of the other, and it has no log of its own. */
  traceInto(debug: DebugChannel | null): void {
    this.closeChannels();
    this.#debug = debug;
  }

  /** `keep` is called with each log line once it is emitted, to journal it. */
  keepLog(keep: (entry: LogEntry) => void): void {
    this.#keepLine = keep;
  }

  get signals(): SignalState | null {
    return this.#signals;
  }

  ownSignals(): SignalState {
    this.#signals ??= new SignalState();
    return this.#signals;
  }

  /** `wake` is called when a signal was acted on, until the result is called. */
  onWake(wake: () => void): () => void {
    this.#wakers ??= new Set();
    this.#wakers.add(wake);
    return () => this.#wakers?.delete(wake);
  }

  /** Wakes the sleepers. Not called for a pause, which holds them. */
  wake(): void {
    for (const wakeOne of this.#wakers ?? []) wakeOne();
  }

  get mailbox(): Mailbox | null {
    return this.#mailbox;
  }

  ownMailbox(): Mailbox {
    this.#mailbox ??= new Mailbox();
    return this.#mailbox;
  }

  get threads(): ThreadSet | null {
    return this.#threads;
  }

  ownThreads(make: () => ThreadSet): ThreadSet {
    this.#threads ??= make();
    return this.#threads;
  }

  /** Mount paths of the MCP servers it owns: it may always use these devices, whatever its rights. */
  get mounts(): ReadonlySet<string> | null {
    return this.#mounts;
  }

  mounted(path: string): void {
    this.#mounts ??= new Set();
    this.#mounts.add(path);
  }

  unmounted(path: string): void {
    this.#mounts?.delete(path);
  }

  /** Publishes the event to all watchers and adds it to the log. */
  tell(event: ProcessEvent, mono: number): void {
    this.watchers.publish(event);
    const line = logLine(event);
    if (line === undefined || this.logs === null) return;
    const entry = { timestampMs: mono - this.seed.createdMono, ...line };
    this.logs.emit(entry);
    this.#keepLine?.(entry);
  }

  log(level: LogEntry["level"], said: string | Notice, mono: number): void {
    const notice = typeof said === "string" ? { message: said } : said;
    const message = this.wording(notice.message);
    const timestampMs = mono - this.seed.createdMono;
    this.tell({ event: "log", pid: this.pid, entry: { ...notice, timestampMs, level, message } }, mono);
  }

  elapsedMs(mono: number): number {
    return (this.life.endedMono ?? mono) - this.seed.createdMono;
  }
}

/** The most refusals of a run that are reported. */
const MAX_REFUSALS = 64;

/** The calls refused in a run, reported with its completion. Bounded: only the first ones are kept. */
class RefusalList {
  /** null: no refusals, as in most runs. */
  #kept: Map<string, Refusal> | null = null;

  /** A repeated refusal of the same call is ignored. */
  add(refusal: Refusal): void {
    const key = `${refusal.tool}\n${refusal.what}`;
    this.#kept ??= new Map();
    if (this.#kept.size < MAX_REFUSALS && !this.#kept.has(key)) this.#kept.set(key, refusal);
  }

  clear(): void {
    this.#kept = null;
  }

  /** The field of an event; absent if nothing was refused. */
  told(): { readonly denied?: readonly Refusal[] } {
    return this.#kept === null ? {} : { denied: [...this.#kept.values()] };
  }
}
