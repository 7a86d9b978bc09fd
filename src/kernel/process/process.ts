/** One process: identity, state and what it owns. Mechanism of its life is in spawn, finish and reap. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { CtxId, Pid, ProcUuid } from "../../abi/ids.ts";
import type {
  Activity,
  ExitStatus,
  PermissionMode,
  ProcessKind,
  ProcessState,
  ProcInfo,
} from "../../abi/process.ts";
import type { Account } from "../account/account.ts";
import { FdTable } from "../vfs/fd-table.ts";
import { DebugChannel } from "./debug-channel.ts";
import type { Session } from "./session.ts";
import { transition } from "./state.ts";
import { Watchers } from "./watchers.ts";

/** What never changes after spawn. */
export interface ProcessSeed {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  readonly kind: ProcessKind;
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
  readonly mode: PermissionMode;
  readonly allowedDevices: readonly string[] | null;
  readonly maxSteps: number;
  readonly account: Account;
  readonly session: Session;
  readonly onParentExit: "reparent" | "terminate";
}

export class Process {
  readonly seed: ProcessSeed;
  readonly pid: Pid;
  ppid: Pid;
  readonly children = new Set<Pid>();
  readonly fds: FdTable;
  readonly watchers = new Watchers();
  /** null after reaping step 4: late events are skipped. */
  debug: DebugChannel | null = new DebugChannel();
  activity: Activity | null = null;
  result = "";
  tokensUsed = 0;
  ctxId: CtxId = 0 as CtxId;
  /** Its own contexts; freed with it. */
  readonly contexts = new Set<CtxId>();
  /** Path of its own model device; "" before it is open. */
  modelDevice = "";
  model = "";
  /** A line the person must read first. */
  notice = "";
  exit: ExitStatus | null = null;
  /** What a signal or a deadline decided; outranks what the program returns. */
  verdict: ExitStatus | null = null;
  /** The handle is dead: every later call is CANCELLED. */
  revoked = false;
  readonly abort = new AbortController();
  readonly done = Promise.withResolvers<ExitStatus>();
  /** The promise of the program, its clean-up and the finish; never rejects. */
  loop: Promise<void> = Promise.resolve();
  /** Both run once, whoever comes first. */
  finishing: Promise<void> | null = null;
  reaping: Promise<void> | null = null;
  paused: PromiseWithResolvers<void> | null = null;
  #state: ProcessState = "created";
  #endedMono: number | null = null;

  constructor(seed: ProcessSeed, ppid: Pid) {
    this.seed = seed;
    this.pid = seed.pid;
    this.ppid = ppid;
    this.fds = new FdTable(seed.pid);
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Check and change in one synchronous step. */
  start(): void {
    this.#state = transition(this.#state, "running", this.pid, "Spawn");
  }

  terminate(exit: ExitStatus, mono: number): void {
    this.#state = transition(this.#state, "zombie", this.pid, "Exit");
    this.exit = exit;
    this.activity = null;
    this.#endedMono = mono;
  }

  reap(): void {
    this.#state = transition(this.#state, "dead", this.pid, "Reap");
  }

  get isLive(): boolean {
    return this.#state === "created" || this.#state === "running";
  }

  elapsedMs(mono: number): number {
    return (this.#endedMono ?? mono) - this.seed.createdMono;
  }

  info(mono: number): ProcInfo {
    const { seed } = this;
    return {
      pid: this.pid,
      ppid: this.ppid,
      kind: seed.kind,
      state: this.#state,
      activity: this.paused !== null && this.isLive ? "paused" : this.activity,
      intent: seed.intent,
      skills: seed.skills,
      tokensUsed: this.tokensUsed,
      createdAt: seed.createdAt,
      elapsedMs: this.elapsedMs(mono),
      ctxId: this.ctxId,
      result: this.result,
      allowedDevices: seed.allowedDevices,
      exit: this.exit,
      groups: [],
    };
  }
}
