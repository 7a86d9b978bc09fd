import type { AskAnswer } from "../../../abi/ask.ts";
import type { Ended } from "../../../abi/child.ts";
import { Fault, SyscallError } from "../../../abi/errors.ts";
import type { ProcessEvent, SyscallEvent } from "../../../abi/events.ts";
import {
  asCtxId,
  asPid,
  asProcUuid,
  type Pgid,
  PID_KERNEL,
  type Pid,
  type ProcUuid,
} from "../../../abi/ids.ts";
import type { McpConfig } from "../../../abi/mcp.ts";
import type { Disposition, ExitStatus, ProcInfo, Signal } from "../../../abi/process.ts";
import type { SupervisorView } from "../../../abi/supervise.ts";
import type { ProcPage, SpawnOpts, Syscalls } from "../../../abi/sys.ts";
import type { AnswerMore, ChildClient, KernelApi } from "../../../kernel/ports/kernel-api.ts";
import type { Requested } from "../../../kernel/ports/requests.ts";
import type { AwakeOptions, Sessions } from "../../../kernel/ports/sessions.ts";
import type { LogPiece, Subscription } from "../../../kernel/ports/subscription.ts";
import type { SupervisorControl } from "../../../kernel/ports/supervisors.ts";

/**
 * An endless queue with one reader. `capacity`: like in the kernel's debug queue, the newest items are dropped and
 * counted.
 */
export class FakeSubscription<T> implements Subscription<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  dropped = 0;
  closed = false;

  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  push(...items: T[]): void {
    for (const item of items) {
      if (this.#items.length < this.#capacity) this.#items.push(item);
      else this.dropped++;
    }
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  close(): void {
    this.closed = true;
    this.#items = [];
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export interface Spawned {
  readonly pid: Pid;
  readonly intent: string;
  readonly agent: string | null;
  readonly opts: SpawnOpts;
  /** undefined: detached. */
  readonly events: FakeSubscription<ProcessEvent> | undefined;
}

export class FakeKernel implements KernelApi {
  procs: ProcInfo[] = [];
  readonly spawned: Spawned[] = [];
  readonly killed: [Pid, Signal][] = [];
  readonly answers: [string, AskAnswer, string | undefined][] = [];
  readonly debug = new Map<Pid, FakeSubscription<SyscallEvent>>();
  readonly waiting: { pid: Pid; end(exit: ExitStatus): void }[] = [];
  readonly calls: string[] = [];
  readonly sent: [Pid, string][] = [];
  /** How a running process handles a signal. */
  disposition: Disposition = "default";
  osChildren = 3;
  activeCount = 0;
  /** Processes that have left the table. */
  readonly ends = new Map<Pid, Ended>();
  /** The error that spawn throws next. */
  spawnFault: Error | undefined;

  readonly init = {
    getPid: () => PID_KERNEL,
    listProcs: async ({ after = PID_KERNEL, limit }: ProcPage = {}) =>
      this.procs.filter(({ pid }) => pid > after).slice(0, limit),
    kill: async (pid: Pid, signal: Signal) => {
      if (!this.procs.some((proc) => proc.pid === pid)) throw notFound("Kill", pid);
      this.killed.push([pid, signal]);
    },
    signal: async (pid: Pid, signal: Signal): Promise<Disposition> => {
      await this.init.kill(pid, signal);
      const found = this.procs.find((proc) => proc.pid === pid);
      return found?.state === "running" ? this.disposition : "ignored";
    },
    ended: async (pid: Pid) => this.ends.get(pid) ?? null,
    joinGroup: async (pid: Pid, group: Pgid | string) => {
      this.calls.push(`joinGroup ${pid} ${group}`);
      return 2;
    },
    leaveGroup: async (pid: Pid, group: Pgid | string) => void this.calls.push(`leaveGroup ${pid} ${group}`),
    signalGroup: async (group: Pgid | string, signal: Signal) => {
      this.calls.push(`signalGroup ${group} ${signal}`);
      const found = this.groups.find(({ id, name }) => id === group || name === group);
      if (found === undefined) throw new Fault({ code: "NOT_FOUND", message: `group not found: ${group}` });
      return found.pids.length;
    },
    send: async (pid: Pid, data: Uint8Array) => void this.sent.push([pid, Buffer.from(data).toString()]),
    mount: async (path: string, config: McpConfig) => {
      this.calls.push(`mount ${path} ${JSON.stringify(config)}`);
      return { path, state: "pending" as const };
    },
    unmount: async (path: string) => void this.calls.push(`unmount ${path}`),
    spawn: async (intent: string, agent: { manifest: { name: string } } | null, opts: SpawnOpts) =>
      this.#spawn(intent, agent?.manifest.name ?? null, opts, undefined).pid,
  } as unknown as Syscalls;

  readonly rights: KernelApi["rights"] = {
    mode: async (pid, change) => {
      this.calls.push(`mode ${pid} ${change?.mode ?? ""}`);
      return { mode: change?.mode ?? "default", ceiling: "auto" };
    },
    autoMode: () => ({
      lists: { allow: ["a"], softDeny: ["b"], environment: ["c"] },
      stage: "both",
      duringPlan: true,
    }),
    grants: async (pid) => {
      this.calls.push(`grants ${pid ?? ""}`);
      return [];
    },
    grant: async (pid, { rules, scope, isLent }) => {
      this.calls.push(`grant ${pid} ${JSON.stringify({ rules, scope, isLent })}`);
      return rules.map((_, at) => `g_${at}`);
    },
    removeGrant: async (id, _by, options) =>
      void this.calls.push(`removeGrant ${id} ${JSON.stringify(options)}`),
    labels: async (pid) => {
      this.calls.push(`labels ${pid}`);
      return [];
    },
    clearLabels: async (pid, which) => {
      this.calls.push(`clearLabels ${pid} ${which}`);
      return [];
    },
    recheckModes: async () => {},
  };

  /** The requested forks. */
  readonly forkRequests: unknown[] = [];

  readonly forks: KernelApi["forks"] = {
    steps: async (pid, last) => {
      this.forkRequests.push({ pid, last });
      const files = Array.from({ length: 30 }, (_, n) => `/w/${n}`);
      return [
        { step: 1, proc: asProcUuid("u"), seq: 9, at: 0, words: "hello", asked: [], files, commands: 2 },
      ];
    },
    fork: async (pid, request) => {
      this.forkRequests.push({ pid, ...request });
      return { pid: asPid(8), uuid: asProcUuid("v"), step: 1, from: asProcUuid("u"), at: 9 };
    },
    again: async (pid, request) => {
      this.forkRequests.push({ again: pid, ...request });
      return { pid, uuid: asProcUuid("v"), step: 1, from: asProcUuid("u"), at: 9 };
    },
    rewind: async (pid, request) => {
      this.forkRequests.push({ pid, ...request });
      const files = [{ path: "/w/a", deed: "restored", reason: "", insertions: 1, deletions: 2 } as const];
      const told = { step: 1, seq: 9, files, commands: ["make"], commandCount: 1 };
      const fork = { pid: asPid(8), uuid: asProcUuid("v"), step: 1, from: asProcUuid("u"), at: 9 };
      const conflicts = request.force ? [] : ["/w/a"];
      return { ...told, conflicts, fork: request.force ? fork : null };
    },
  };

  async spawnWatched(intent: string, agent: { manifest: { name: string } } | null, opts: SpawnOpts) {
    const events = new FakeSubscription<ProcessEvent>();
    const { pid } = this.#spawn(intent, agent?.manifest.name ?? null, opts, events);
    return { pid, uuid: `u-${pid}` as ProcUuid, events };
  }

  attachDebug(pid: Pid, options: { all: boolean }): Subscription<SyscallEvent> {
    this.calls.push(`attachDebug ${pid} ${options.all}`);
    const found = this.debug.get(pid);
    if (found === undefined) throw notFound("AttachDebug", pid);
    return found;
  }

  waitFor(pid: Pid, signal: AbortSignal) {
    return new Promise<{ exit: ExitStatus; tokensUsed: number; elapsedMs: number }>((resolve, reject) => {
      this.waiting.push({ pid, end: (exit) => resolve({ exit, tokensUsed: 7, elapsedMs: 1200.4 }) });
      const cancel = () => {
        this.calls.push(`wait ${pid} aborted`);
        reject(signal.reason);
      };
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel);
    });
  }

  /** What has ended, by falling pid. */
  readonly gone: ProcInfo[] = [];

  async ended({ before, limit, tree }: { before: number; limit: number; tree?: Pid | undefined }) {
    this.calls.push(`ended ${tree ?? "all"}`);
    return { processes: this.gone.filter(({ pid }) => pid < before).slice(0, limit) };
  }

  /** The further parameters of answers. */
  readonly answeredMore: AnswerMore[] = [];
  /** The note returned for an answer. */
  answerNote = "";

  async answer(askId: string, answer: AskAnswer, words?: string, more: AnswerMore = {}): Promise<string> {
    if (askId === "none") throw new Fault({ code: "NOT_FOUND", message: "no such question: none" });
    this.answers.push([askId, answer, words]);
    this.answeredMore.push(more);
    return this.answerNote;
  }

  /** The clients that are OS children, by the uuid of their process. */
  readonly children = new Map<string, ChildClient>();

  clientOf(uuid: string): ChildClient | undefined {
    return this.children.get(uuid);
  }

  /** The first notice of every process. */
  notice = "";

  noticeOf(): string {
    return this.notice;
  }

  async jobs(): Promise<never[]> {
    return [];
  }

  async *jobOutput(): AsyncGenerator<Uint8Array> {}

  readonly projects = {} as KernelApi["projects"];
  readonly services = {} as KernelApi["services"];
  readonly events = {} as KernelApi["events"];
  readonly intents = {
    recall: async () => {},
    ready: async () => {},
    find: () => undefined,
    attend: () => () => {},
  } as unknown as KernelApi["intents"];
  readonly runs: KernelApi["runs"] = { hear: () => {} };
  readonly hal = {} as KernelApi["hal"];
  readonly natives: KernelApi["natives"] = { list: () => [], of: () => undefined, past: async () => ({}) };
  readonly sessions = {
    awake: async (pid: Pid, options: AwakeOptions = {}) =>
      void this.calls.push(`awake ${pid} ${JSON.stringify(options)}`),
    keepMode: () => {},
  } as unknown as Sessions;
  readonly replays = {} as KernelApi["replays"];
  readonly views = {} as KernelApi["views"];
  readonly budgets = {} as KernelApi["budgets"];
  /** What earlier requests have made, by id. */
  readonly made = new Map<string, Requested>();
  readonly requests: KernelApi["requests"] = {
    find: async (id) => this.made.get(id),
    rejoin: async (pid, options) => {
      this.calls.push(`rejoin ${pid} ${JSON.stringify(options)}`);
      const events = new FakeSubscription<ProcessEvent>();
      events.end();
      return events;
    },
  };
  groups: ReturnType<KernelApi["listGroups"]> = [];
  mounts: ReturnType<KernelApi["listMounts"]> = [];
  readonly attached = new Map<Pid, FakeSubscription<ProcessEvent>>();
  readonly pieces = new Map<Pid, FakeSubscription<LogPiece>>();

  attach(pid: Pid, options: { interactive: boolean }): Subscription<ProcessEvent> {
    this.calls.push(`attach ${pid} ${options.interactive}`);
    const found = this.attached.get(pid);
    if (found === undefined) throw notFound("Attach", pid);
    return found;
  }

  async logs(pid: Pid, options: { tail: number; follow: boolean }): Promise<Subscription<LogPiece>> {
    this.calls.push(`logs ${pid} ${options.tail} ${options.follow}`);
    const found = this.pieces.get(pid);
    if (found === undefined) throw notFound("Logs", pid);
    return found;
  }

  async signalTree(pid: Pid, signal: Signal): Promise<Pid[]> {
    this.calls.push(`signalTree ${pid} ${signal}`);
    return this.procs.filter((proc) => proc.pid === pid || proc.ppid === pid).map((proc) => proc.pid);
  }

  lendEnv(pid: Pid, env: Readonly<Record<string, string>>): void {
    this.calls.push(`lendEnv ${pid} ${JSON.stringify(env)}`);
  }

  /** The state of a process after resume. */
  resumed = new Map<Pid, ProcInfo>();

  async resume(pid: Pid, env?: Readonly<Record<string, string>>): Promise<ProcInfo> {
    this.calls.push(`resume ${pid} ${JSON.stringify(env)}`);
    const found = this.resumed.get(pid);
    if (found === undefined) throw notFound("Resume", pid);
    return found;
  }

  async renice() {}

  async handOver(pid: Pid) {
    return [pid];
  }

  async endBackground(pid: Pid): Promise<void> {
    this.calls.push(`endBackground ${pid}`);
  }

  async chooseModel(_pid: Pid, { model = "" }: { readonly model?: string | undefined }) {
    return { device: "/dev/llm/fake", model, from: "step" } as const;
  }

  async pin(_pid: Pid, change?: { readonly text: string }) {
    return change?.text ?? "";
  }

  listGroups() {
    return this.groups;
  }

  listMounts() {
    return this.mounts;
  }

  listDevices() {
    return [];
  }

  supervisor(pid: Pid): SupervisorControl {
    if (!this.procs.some((proc) => proc.pid === pid && proc.kind === "supervisor"))
      throw notFound("Supervisor", pid);
    const call = (name: string) => async (id: string) => void this.calls.push(`${name} ${pid} ${id}`);
    return {
      view: () => ({}) as SupervisorView,
      startChild: call("startChild"),
      stopChild: call("stopChild"),
      restartChild: call("restartChild"),
    };
  }

  active(): number {
    return this.activeCount;
  }

  isWorking(): boolean {
    return this.activeCount > 0;
  }

  async shutdown(graceMs: number): Promise<void> {
    this.calls.push(`shutdown ${graceMs}`);
    for (const { events } of this.spawned) events?.end();
  }

  async abandon(words: string): Promise<void> {
    this.calls.push(`abandon ${words}`);
    for (const { events } of this.spawned) events?.end();
  }

  #spawn(
    intent: string,
    agent: string | null,
    opts: SpawnOpts,
    events: FakeSubscription<ProcessEvent> | undefined,
  ): Spawned {
    if (this.spawnFault !== undefined) throw this.spawnFault;
    const spawned = { pid: asPid(this.spawned.length + 1), intent, agent, opts, events };
    this.spawned.push(spawned);
    return spawned;
  }
}

function notFound(syscall: string, pid: Pid): SyscallError {
  return new SyscallError({
    code: "NOT_FOUND",
    syscall,
    pid: PID_KERNEL,
    message: `process not found: ${pid}`,
  });
}

export function procInfo(pid: number, more: Partial<ProcInfo> = {}): ProcInfo {
  return {
    pid: asPid(pid),
    ppid: PID_KERNEL,
    kind: "agent",
    state: "running",
    activity: "thinking",
    intent: "分析代码",
    skills: ["code-analysis"],
    tokensUsed: 456,
    createdAt: new Date(0),
    elapsedMs: 3200.7,
    ctxId: asCtxId(1),
    result: "",
    allowedDevices: null,
    exit: null,
    groups: [],
    threads: 0,
    coroutines: 0,
    name: "",
    model: "",
    ...more,
  };
}
