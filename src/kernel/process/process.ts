/** One process: identity, state and what it owns. Mechanism of its life is in spawn, finish and reap. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Caller } from "../../abi/device.ts";
import type { LogEntry, ProcessEvent } from "../../abi/events.ts";
import type { CtxId, Pgid, Pid, ProcUuid, Tid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type {
  Activity,
  ExitStatus,
  Hold,
  PermissionMode,
  ProcessKind,
  ProcessState,
  ProcInfo,
} from "../../abi/process.ts";
import type { Restored } from "../../abi/program.ts";
import type { Rights } from "../../abi/rights.ts";
import type { ThreadView } from "../../abi/sys.ts";
import { labelsFacet } from "../../consent/labels/facet.ts";
import type { Tape } from "../../history/replay/tape.ts";
import { abortable } from "../../lib/abort.ts";
import { Conversation } from "../../session/conversation.ts";
import type { Account } from "../account/account.ts";
import { Facts } from "../facts/facet.ts";
import type { Mailbox } from "../ipc/mailbox.ts";
import type { SignalState } from "../ipc/signal-state.ts";
import { DebugChannel } from "../log/debug-channel.ts";
import { LogChannel } from "../log/log-channel.ts";
import { logLine } from "../log/log-line.ts";
import { Watchers } from "../log/watchers.ts";
import { FdTable } from "../vfs/fd-table.ts";
import { transition } from "./life/state.ts";
import { Stillness } from "./life/stillness.ts";
import { noteFacet } from "./note.ts";
import { RefusalList } from "./refusal-list.ts";
import { devicesOf } from "./rights/rights.ts";
import { SeenFileSet } from "./seen-file-set.ts";
import type { Session } from "./session.ts";
import { Coroutines } from "./thread/coroutines.ts";
import { Units } from "./units.ts";

/** What everybody may know of what a process runs; body.ts has the rest. */
export interface BodyFacts {
  readonly kind: ProcessKind;
  /** Agent name, program, supervisor name; "" in general mode. */
  readonly name: string;
  readonly agent: AgentInfo | null;
  /** A process of this kind that works keeps the daemon alive. */
  readonly isActive: boolean;
  /** ms from a TERM that acts by default, or a deadline, to KILL; absent: the usual. */
  readonly termGraceMs?: number;
}

/** The threads of one process (threads.ts). */
export interface ThreadSet {
  /** Of those that have not ended. */
  readonly live: number;
  spawn(intent: string, maxTurns: number, signal: AbortSignal): Promise<Tid>;
  join(tid: Tid, signal: AbortSignal): Promise<{ result: string; err?: Error }>;
  cancel(tid: Tid): void;
  list(): ThreadView[];
  clear(): Promise<void>;
}

/** What never changes after spawn. */
export interface ProcessSeed {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  readonly kind: ProcessKind;
  readonly body: BodyFacts;
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly skills: readonly string[];
  readonly createdAt: Date;
  /** Monotonic milliseconds of creation. */
  readonly createdMono: number;
  readonly cwd: string;
  readonly roots: readonly string[];
  /** A folder of its own, writable without asking; "" none. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
  /** At its spawn. Nothing changes them; what a person gives or takes since is a grant. */
  readonly rights: Rights;
  /** In which it begins. */
  readonly mode: PermissionMode;
  /** Those above it at its spawn, nearest first: whom grants for a subtree reach. */
  readonly line: readonly Pid[];
  readonly maxSteps: number;
  readonly account: Account;
  readonly session: Session;
  /** An agent stands above it: as an OS process it runs in a sandbox. */
  readonly confined?: boolean;
  readonly onParentExit: "reparent" | "terminate";
  /** A person talks to it: it waits for the next message instead of ending. */
  readonly isSession?: boolean;
  /** Of a session: whose message the intent is. */
  readonly client?: string;
}

export class Process {
  readonly seed: ProcessSeed;
  readonly pid: Pid;
  ppid: Pid;
  readonly children = new Set<Pid>();
  readonly fds: FdTable;
  readonly watchers = new Watchers();
  /** Those that it holds; each is changed by its owner alone, with a record. */
  readonly facts = new Facts();
  /** Takes the place of the usual keeping of what its files were; null: that. */
  fileKeeper: Caller["changing"] | null = null;
  /** null after reaping step 4: late events are skipped. */
  debug: DebugChannel | null = new DebugChannel();
  /** Of the run under way, or the only one. */
  readonly refusals = new RefusalList();
  /** null after reaping step 4. */
  logs: LogChannel | null = new LogChannel();
  /** Hears each log line once it is said; the journal keeps them. */
  onLog: ((entry: LogEntry) => void) | null = null;
  /** Those below are made on first use: most processes need none. */
  signals: SignalState | null = null;
  mailbox: Mailbox | null = null;
  /** Messages received, whose taking is not journalled yet: it goes with what the program makes of them. */
  takenMail: readonly number[] = [];
  /** null: it has one run, and ends with it. */
  readonly conversation: Conversation | null;
  /** While its program runs: what it gets from outside passes here. null: nothing is kept of it. */
  tape: Tape | null = null;
  threads: ThreadSet | null = null;
  /** Where the MCP servers it owns are mounted: its own devices, whatever its rights say. */
  mounts: Set<string> | null = null;
  /** What devices keep for it; null: nothing. */
  kept: Map<string, unknown> | null = null;
  /** Who sleeps until a signal is heeded. */
  readonly wakers = new Set<() => void>();
  readonly groups = new Set<Pgid>();
  readonly units = new Units();
  readonly stillness = new Stillness();
  /** What a program told before its daemon ended; null: a fresh start. */
  restored: Restored | null = null;
  /** The journal has all that a later daemon needs to bring it back. */
  isRestorable = false;
  /** Brought back, and its history not read yet: reads it. Who asks meanwhile waits for the same. null: all is there. */
  recall: (() => Promise<void>) | null = null;
  /** Brought back, and not yet gone on: takes the environment of a client. */
  lendEnv: ((env: Readonly<Record<string, string>>) => void) | null = null;
  /** It paused itself, for want of what it needs to go on: no person did. */
  isInWant = false;
  /** It leaves memory without an end, with its daemon: nothing that it does now counts. */
  isResting = false;
  /** Until it has left; null: it stays. */
  leaving: Promise<void> | null = null;
  /** Changed by set-mode.ts alone, which journals it. */
  mode: PermissionMode;
  /** In mode plan: the one it was in before; null: it is in another, or nobody knows. */
  priorMode: PermissionMode | null = null;
  /** Rises with each change of it. */
  modeTurn = 0;
  activity: Activity | null = null;
  /** Hears when it begins to work, and when it stands still: paused, blocked, or at its end. */
  onWork: ((isWorking: boolean) => void) | null = null;
  /** Marks of secrets that a person let it read; in memory alone. null: none. */
  shownSecrets: Set<string> | null = null;
  /** Makes words that others read fit to be read. */
  wording: (text: string) => string = (text) => text;
  /** Those that an earlier daemon left open, by digest: asked again, they keep their id. null: none. */
  unanswered: Map<string, string> | null = null;
  result = "";
  tokensUsed = 0;
  /** By its own calls, in millionths of a dollar, as far as this daemon has read its history. */
  microUsdUsed = 0;
  /** Calls whose price nobody knows, of this daemon. */
  unpricedCalls = 0;
  ctxId: CtxId = 0 as CtxId;
  /** What it has seen of files. */
  readonly seen = new SeenFileSet();
  /** Its own contexts; freed with it. */
  readonly contexts = new Set<CtxId>();
  /** Path of its own model device; "" before it is open. */
  modelDevice = "";
  model = "";
  /** Which model answered last, as its server calls it; "" before any did. */
  answeringModel = "";
  /** A line the person must read first. */
  notice = "";
  exit: ExitStatus | null = null;
  /** What a signal or a deadline decided; outranks what the program returns. */
  verdict: ExitStatus | null = null;
  /** The handle is dead: every later call is CANCELLED. */
  revoked = false;
  readonly abort = new AbortController();
  /** Fires at KILL, with `abort` or after it. */
  readonly killed = new AbortController();
  /** Resolves at the exit; rejects with the error of a spawn that failed, or UNAVAILABLE when it rests with its daemon. */
  readonly done = Promise.withResolvers<ExitStatus>();
  /** Monotonic milliseconds at which it is ended by force; null: nothing is planned. */
  forceAt: number | null = null;
  /** The promise of the program, its clean-up and the finish; never rejects. */
  loop: Promise<void> = Promise.resolve();
  /** Both run once, whoever comes first. */
  finishing: Promise<void> | null = null;
  reaping: Promise<void> | null = null;
  paused: PromiseWithResolvers<void> | null = null;
  /** Why, while it is. */
  heldFor: Exclude<Hold, "disk"> = "signal";
  /** The disk takes nothing, and it waits to begin something; null: it does not. */
  stalled: PromiseWithResolvers<void> | null = null;
  /** Its program has ended, and its exit waits for the disk: a signal cuts that short. */
  exitWait: AbortController | null = null;
  #coroutines: Coroutines | null = null;
  #state: ProcessState = "created";
  #openAsks = 0;
  #wasWorking = false;
  #startedMono = 0;
  #ranBeforeMs = 0;
  #pausedMono = 0;
  #pausedMs = 0;
  #endedMono: number | null = null;

  constructor(seed: ProcessSeed, ppid: Pid) {
    this.seed = seed;
    this.pid = seed.pid;
    this.ppid = ppid;
    this.mode = seed.mode;
    this.fds = new FdTable(seed.pid);
    this.conversation = seed.isSession === true ? new Conversation() : null;
    // Most processes have nobody who waits for a spawn that fails.
    this.done.promise.catch(() => {});
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Where what it has read came from. */
  get labels(): readonly Label[] {
    return this.facts.of(labelsFacet);
  }

  /** Made on first use. */
  get coroutines(): Coroutines {
    this.#coroutines ??= new Coroutines(this.abort.signal);
    return this.#coroutines;
  }

  /** Check and change in one synchronous step. */
  start(mono: number): void {
    this.#state = transition(this.#state, "running", this.pid, "Spawn");
    this.#startedMono = mono;
    this.#pausedMs = 0;
    this.#tellWork();
  }

  terminate(exit: ExitStatus, mono: number): void {
    this.#state = transition(this.#state, "zombie", this.pid, "Exit");
    this.exit = exit;
    this.activity = null;
    this.#endedMono = mono;
    this.#tellWork();
  }

  reap(): void {
    this.#state = transition(this.#state, "dead", this.pid, "Reap");
  }

  get isLive(): boolean {
    return this.#state === "created" || this.#state === "running";
  }

  /** Holds the program at its next step. Twice is once. */
  pause(mono: number): void {
    if (this.paused !== null) return;
    this.#halt(mono);
    this.paused = Promise.withResolvers<void>();
    this.tell({ event: "paused", pid: this.pid, isPaused: true }, mono);
    this.#tellWork();
  }

  resume(mono: number): void {
    if (this.paused === null) return;
    this.paused.resolve();
    this.paused = null;
    this.heldFor = "signal";
    this.#go(mono);
    this.tell({ event: "paused", pid: this.pid, isPaused: false }, mono);
    this.#tellWork();
  }

  /** As a pause, but nobody's wish: its time does not count, and no signal ends it. Twice is once. */
  stall(mono: number): void {
    if (this.stalled !== null) return;
    this.#halt(mono);
    this.stalled = Promise.withResolvers<void>();
    this.#tellWork();
  }

  unstall(mono: number): void {
    if (this.stalled === null) return;
    this.stalled.resolve();
    this.stalled = null;
    this.#go(mono);
    this.#tellWork();
  }

  /** Returns when it is not paused; rejects when `signal` fires. */
  async untilResumed(signal: AbortSignal): Promise<void> {
    while (this.paused !== null) await this.stillness.hold(abortable(this.paused.promise, signal));
  }

  /** Questions of the gate that wait for a person. */
  get openAsks(): number {
    return this.#openAsks;
  }

  set openAsks(count: number) {
    this.#openAsks = count;
    this.#tellWork();
  }

  /** It runs, and nothing holds it: its time counts against a budget. A session that waits for its person does not. */
  get isWorking(): boolean {
    const waits = this.conversation !== null && this.activity === "waiting";
    return this.#state === "running" && !this.isHalted && this.#openAsks === 0 && !waits && !this.isResting;
  }

  /** After each change of what `isWorking` looks at. */
  workChanged(): void {
    this.#tellWork();
  }

  #tellWork(): void {
    const { isWorking } = this;
    if (isWorking === this.#wasWorking) return;
    this.#wasWorking = isWorking;
    this.onWork?.(isWorking);
  }

  /** Paused, or stalled. */
  get isHalted(): boolean {
    return this.paused !== null || this.stalled !== null;
  }

  /** Milliseconds since the start, pauses not counted, nor the time between two daemons. */
  ranMs(mono: number): number {
    if (this.#state === "created") return this.#ranBeforeMs;
    const pausedMs = this.#pausedMs + (this.isHalted ? this.#pauseMs(mono) : 0);
    return this.#ranBeforeMs + mono - this.#startedMono - pausedMs;
  }

  /** Milliseconds that it ran under an earlier daemon. */
  carryOver(ranMs: number): void {
    this.#ranBeforeMs = ranMs;
  }

  #halt(mono: number): void {
    if (!this.isHalted) this.#pausedMono = mono;
  }

  #go(mono: number): void {
    if (!this.isHalted) this.#pausedMs += this.#pauseMs(mono);
  }

  /** A pause before the start does not count against the run. */
  #pauseMs(mono: number): number {
    return mono - Math.max(this.#pausedMono, this.#startedMono);
  }

  /** To whoever watches, and into the log. */
  tell(event: ProcessEvent, mono: number): void {
    this.watchers.publish(event);
    const line = logLine(event);
    if (line === undefined || this.logs === null) return;
    const entry = { timestampMs: mono - this.seed.createdMono, ...line };
    this.logs.emit(entry);
    this.onLog?.(entry);
  }

  log(level: LogEntry["level"], said: string, mono: number): void {
    const message = this.wording(said);
    const timestampMs = mono - this.seed.createdMono;
    this.tell({ event: "log", pid: this.pid, entry: { timestampMs, level, message } }, mono);
  }

  elapsedMs(mono: number): number {
    return (this.#endedMono ?? mono) - this.seed.createdMono;
  }

  info(mono: number): ProcInfo {
    const { seed } = this;
    const note = this.facts.of(noteFacet);
    return {
      pid: this.pid,
      ppid: this.ppid,
      kind: seed.kind,
      state: this.#state,
      activity: this.#shownActivity(),
      intent: seed.intent || (this.conversation?.title ?? ""),
      skills: [...seed.skills],
      ...this.#hold(),
      tokensUsed: this.tokensUsed,
      ...(this.microUsdUsed === 0 ? {} : { microUsdUsed: this.microUsdUsed }),
      ...(this.unpricedCalls === 0 ? {} : { unpricedCalls: this.unpricedCalls }),
      createdAt: new Date(seed.createdAt),
      elapsedMs: this.elapsedMs(mono),
      ctxId: this.ctxId,
      result: this.result,
      allowedDevices: devicesOf(this),
      exit: this.exit,
      groups: [...this.groups].sort((a, b) => a - b),
      threads: this.threads?.live ?? 0,
      coroutines: this.#coroutines?.live ?? 0,
      name: seed.body.name,
      ...(seed.isSession === true ? { isSession: true } : {}),
      ...(this.labels.length === 0 ? {} : { labels: [...new Set(this.labels.map(({ kind }) => kind))] }),
      ...(note === "" ? {} : { note }),
      ...(seed.kind === "agent" && this.mode !== "default" ? { mode: this.mode } : {}),
      model: this.answeringModel || this.model || (this.modelDevice.split("/")[3] ?? ""),
    };
  }

  #hold(): { readonly held?: Hold } {
    if (!this.isLive || !this.isHalted) return {};
    return { held: this.paused === null ? "disk" : this.heldFor };
  }

  #shownActivity(): Activity | null {
    if (!this.isLive) return null;
    if (this.isHalted) return "paused";
    return this.openAsks > 0 ? "blocked" : this.activity;
  }
}
