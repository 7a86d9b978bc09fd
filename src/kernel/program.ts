/**
 * What a program gets: its handle (the system calls, and access to its own process that needs no gate), and its start.
 */
import { printed } from "../abi/errors.ts";
import { FORK } from "../abi/fork.ts";
import { asFd, type Fd, type Pid } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import type { Begun, ProgramStart } from "../abi/program.ts";
import type { Sys, Syscalls } from "../abi/sys.ts";
import { pathOf } from "../consent/plan/plans.ts";
import { localDay } from "../lib/time/local-day.ts";
import { type RunSeat, type SessionRunning, sessionRuns } from "../session/program-runs.ts";
import type { Accounting } from "./account/accounting.ts";
import { asksAtLimit } from "./account/raise.ts";
import type { ContextSpaces } from "./context/spaces.ts";
import { type Telling, tellCall } from "./gate/call-told.ts";
import { joins } from "./ipc/joins.ts";
import type { RecordKind } from "./ports/journal.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { Tape } from "./ports/tape.ts";
import { modelStartOf, takeChosen, timesChosen } from "./process/chosen-model.ts";
import type { Process } from "./process/process.ts";
import { toldOf } from "./process/process-seed.ts";
import { isAutoActive, type Judging } from "./process/rights/auto-mode.ts";
import type { ThreadSeat } from "./process/thread/reason.ts";
import { answerView, viewRequestOf } from "./process/view-requests.ts";
import type { Mounts } from "./vfs/mounts.ts";

/** What programs need of the kernel. */
type Programming = { readonly table: { get(pid: Pid): Process | undefined } } & SessionRunning &
  Accounting &
  Telling &
  Judging & {
    readonly ports: Pick<KernelPorts, "random" | "models">;
    readonly mounts: Pick<Mounts, "namedBy">;
    readonly contexts: Pick<ContextSpaces, "view">;
    note(proc: Process, kind: RecordKind, body: unknown): void;
    handle(self: Process, scope: null, signal?: AbortSignal): Syscalls;
  };

const MODEL_FD = asFd(3);

/** Where in its process a program runs: in a thread, in one run of a session, or as the process itself. */
interface Seat {
  readonly thread?: ThreadSeat;
  readonly run?: RunSeat;
}

export function programOf(core: Programming, proc: Process, thread?: ThreadSeat): Begun {
  const seat: Seat = thread === undefined ? {} : { thread };
  return { sys: handleOf(core, proc, seat), start: startOf(core, proc, thread) };
}

function startOf(core: Programming, proc: Process, thread: ThreadSeat | undefined): ProgramStart {
  const { pid, seed, ctxId, conversation } = proc;
  const { agent, cwd } = seed;
  const same = {
    ...modelStartOf(core, proc),
    pid,
    ctxId,
    agent,
    cwd,
    mounts: core.mounts.namedBy(seed.fork?.label === FORK ? proc.ppid : pid),
    toolset: 2,
    early: true,
    ownAgents: true,
  } as const;
  if (thread !== undefined) {
    const { intent, modelFd, maxSteps, ctxId: own = ctxId } = thread;
    const given = { ctxId: own, intent, modelFd, maxSteps };
    return { ...same, ...given, surroundings: true, input: null, restored: null, session: null };
  }
  return {
    ...same,
    intent: seed.intent,
    modelFd: MODEL_FD,
    maxSteps: seed.maxSteps,
    input: proc.fds.has(asFd(0)) ? asFd(0) : null,
    ...toldOf(seed),
    viewRequests: true,
    chosen: timesChosen(proc),
    restored: proc.past.restored,
    session: conversation === null ? null : { client: seed.client ?? "" },
  };
}

/** Fires at TERM, INT, KILL, timeout. */
function signalOf(proc: Process, { thread, run }: Seat): AbortSignal {
  return thread?.signal ?? run?.signal ?? proc.abort.signal;
}

/** Threads have no tape: it could not tell which of them made a call. */
function tapeOf(proc: Process, { thread }: Seat): Tape | null {
  return thread === undefined ? proc.tape : null;
}

function handleOf(core: Programming, proc: Process, seat: Seat): Sys {
  const calls = core.handle(proc, null, (seat.thread ?? seat.run)?.signal);
  const signal = signalOf(proc, seat);
  const ending = tapeOf(proc, seat)?.signal(signal) ?? signal;
  const more = [tells, reads, waits, keeps].map((part) => part(core, proc, seat));
  const runs = sessionRuns(core, proc, (run) => handleOf(core, proc, { run }));
  // the calls are methods of the handle's class
  return Object.assign(calls, { ending }, ...more, runs) as Sys;
}

type Tells =
  | "onStep"
  | "said"
  | "replied"
  | "called"
  | "retries"
  | "switches"
  | "setActivity"
  | "setResult"
  | "log";

function tells(core: Programming, proc: Process, { thread }: Seat): Pick<Sys, Tells> {
  const { pid, seed } = proc;
  const total = thread?.maxSteps ?? seed.maxSteps;
  const mono = (): number => core.ports.clock.mono();
  return {
    onStep: (step) => {
      proc.stepped();
      proc.tell({ event: "step", pid, step, total }, mono());
    },
    said: (text) => proc.tell({ event: "said", pid, text }, mono()),
    replied: (reply) => {
      if (thread === undefined) tellReply(proc, reply, mono());
    },
    called: (call) => tellCall(core, proc, call),
    retries: ({ message, ...retry }) => {
      const why = message === undefined ? {} : { message: proc.wording(message) };
      proc.tell({ event: "api_retry", pid, ...retry, ...why }, mono());
    },
    switches: ({ from, to, cause }) => proc.tell({ event: "model_switch", pid, from, to, cause }, mono()),
    setActivity: (activity) => {
      proc.life.act(activity);
      proc.work.check();
      // the end of its lead's run may wait for just this
      if (activity === "idle") core.table.get(proc.ppid)?.wake();
    },
    setResult: thread?.setResult ?? ((text) => proc.conclude(text)),
    log: (level, message) => proc.log(level, message, mono()),
  };
}

/** To clients that follow the messages. */
function tellReply(proc: Process, reply: Reply, mono: number): void {
  const { pid, fds, watchers } = proc;
  const model = fds.has(MODEL_FD) ? fds.find(MODEL_FD, "Read") : undefined;
  const durationMs = model?.busyMs ?? 0;
  if (model !== undefined) model.busyMs = 0;
  const event = { event: "message", pid, reply, durationMs } as const;
  watchers.keep(event);
  if (watchers.follows("messages")) proc.tell(event, mono);
}

type Reads =
  | "hasMail"
  | "isPaused"
  | "standing"
  | "account"
  | "mayDoAside"
  | "chosenModel"
  | "hasViewRequest"
  | "now"
  | "mono"
  | "today"
  | "random";

/** Each is an input of the tape, under its name. */
function reads(core: Programming, proc: Process, seat: Seat): Pick<Sys, Reads> {
  const { clock, random } = core.ports;
  const input =
    <T>(name: Reads, read: () => T) =>
    (): T => {
      const tape = tapeOf(proc, seat);
      return tape === null ? read() : tape.input(name, read);
    };
  return {
    hasMail: input("hasMail", () => hasMail(proc, seat)),
    isPaused: input("isPaused", () => proc.isPaused),
    standing: input("standing", () => standingOf(core, proc)),
    account: input("account", () => ({
      ...proc.seed.account.view(),
      ...(asksAtLimit(core, proc) ? { asks: true } : {}),
    })),
    mayDoAside: input(
      "mayDoAside",
      () =>
        !proc.seed.account.isBounded &&
        proc.seed.isTimed !== true &&
        proc.labels.length === 0 &&
        proc.seed.session.canAsk &&
        core.ports.models.isModel?.(proc.model.device) !== false,
    ),
    chosenModel: input("chosenModel", () => takeChosen(core, proc)),
    hasViewRequest: input("hasViewRequest", () => viewRequestOf(proc) !== null),
    now: input("now", () => clock.now()),
    mono: input("mono", () => clock.mono()),
    today: input("today", () => localDay(clock.now())),
    random: input("random", random),
  };
}

/** A run may read messages of its own client, and of other processes. */
function hasMail({ mailbox }: Process, { thread, run }: Seat): boolean {
  if (thread !== undefined || mailbox === null) return false;
  return run === undefined ? mailbox.isReady : mailbox.has((message) => joins(message, run.client));
}

function standingOf(core: Programming, proc: Process): string {
  const { child } = proc.seed;
  if (proc.mode === "plan")
    return child === undefined || child.plansFirst === true ? `plan ${pathOf(proc) ?? ""}`.trimEnd() : "plan";
  return isAutoActive(core, proc) ? "auto" : "";
}

type Waits = "waitIfPaused" | "ahead" | "delay" | "unit" | "viewRequest";

function waits(core: Programming, proc: Process, seat: Seat): Pick<Sys, Waits> {
  const resumed = (): Promise<void> => proc.halt.untilResumed(signalOf(proc, seat));
  return {
    waitIfPaused: async () => {
      const tape = tapeOf(proc, seat);
      if (tape === null) await resumed();
      else if (tape.input("isHeld", () => proc.isPaused)) await tape.answer("untilResumed", null, resumed);
    },
    ahead: (fd, signal) => {
      const look = (): Promise<boolean> => isAhead(proc, fd, signal);
      return tapeOf(proc, seat)?.answer("ahead", fd, look) ?? look();
    },
    delay: (ms, signal) => {
      const sleep = (): Promise<void> => core.ports.clock.sleep(ms, signal);
      return tapeOf(proc, seat)?.answer("sleep", ms, sleep) ?? sleep();
    },
    unit: (act) => proc.units.run(act),
    // an answer of the tape: a replay waits here where the record of a daemon that died has no more
    viewRequest: () => {
      const look = async () => viewRequestOf(proc);
      return tapeOf(proc, seat)?.answer("viewRequest", null, look) ?? look();
    },
  };
}

async function isAhead({ fds }: Process, fd: Fd, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fds.find(fd, "Read").file.ahead?.(signal)) ?? false;
  } catch {
    return false;
  }
}

type Keeps = "checkpoint" | "addToCheckpoint" | "measured" | "viewAnswer" | "offerFork" | "offerAside";

function keeps(core: Programming, proc: Process, { thread }: Seat): Pick<Sys, Keeps> {
  const keep = (body: { state: unknown } | { part: unknown }): void => {
    if (thread !== undefined) return;
    proc.tape?.flush();
    noteCheckpoint(core, proc, body);
  };
  return {
    checkpoint: (state) => keep({ state }),
    addToCheckpoint: (part) => keep({ part }),
    viewAnswer: (id, outcome) => answerView(proc, id, outcome),
    // a fork has the conversation of the process, which is not that of a thread
    offerFork: (offer) => {
      if (thread === undefined) proc.forkOffer = offer;
    },
    offerAside: (prefix) => {
      if (thread === undefined) proc.asideOffer = prefix;
    },
    measured: ({ reported: tokens, ...change }) => {
      if (thread !== undefined || proc.life.isClosed) return;
      const { records } = core.contexts.view(proc.ctxId);
      const reported = typeof tokens === "number" ? { tokens, records } : tokens;
      core.note(proc, "ctx.gauge", { ...change, ...(reported === undefined ? {} : { reported }) });
    },
  };
}

/** A paused process may be restored from this checkpoint by a later daemon: so it is synced at once. */
function noteCheckpoint(
  core: Programming,
  proc: Process,
  body: { state: unknown } | { part: unknown },
): void {
  // a program that still runs after the end of its process is ignored
  if (proc.life.isClosed) return;
  core.note(proc, "process.checkpoint", body);
  if (!proc.isPaused) return;
  core.ports.journal.sync().catch((error: unknown) => {
    core.ports.log("error", `pid ${proc.pid}: its place could not be recorded: ${printed(error)}`);
  });
}
