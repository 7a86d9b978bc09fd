/**
 * What a program gets: its handle (the system calls, and access to its own process that needs no gate), and its start.
 */
import { printed } from "../abi/errors.ts";
import { FORK } from "../abi/fork.ts";
import { asFd, type Fd, type Pid } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import type { AccountView, Begun, ProgramStart } from "../abi/program.ts";
import type { Sys, Syscalls } from "../abi/sys.ts";
import { pathOf } from "../consent/plan/plans.ts";
import { localDay } from "../lib/time/local-day.ts";
import { beginRun, RUNS, type RunSeat, type SessionRunning } from "../session/program-runs.ts";
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
    programHandle(proc: Process, parts: HandleParts): Sys;
  };

/** What the handle of a program has beside the calls of its process. */
export interface HandleParts {
  readonly held: Held;
  readonly ending: AbortSignal;
  readonly ofThread: AbortSignal | undefined;
}

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

/** What the own calls of a program concern: its process, and where in it the program runs. */
interface Held extends Seat {
  readonly core: Programming;
  readonly proc: Process;
  /** Fires at TERM, INT, KILL, timeout. */
  readonly signal: AbortSignal;
}

function handleOf(core: Programming, proc: Process, seat: Seat): Sys {
  const signal = seat.thread?.signal ?? seat.run?.signal ?? proc.abort.signal;
  const held: Held = { ...seat, core, proc, signal };
  const ending = tapeOf(held)?.signal(signal) ?? signal;
  return core.programHandle(proc, { held, ending, ofThread: (seat.thread ?? seat.run)?.signal });
}

/** Threads have no tape: it could not tell which of them made a call. */
function tapeOf({ proc, thread }: Held): Tape | null {
  return thread === undefined ? proc.tape : null;
}

/** Own calls of programs: a table, as a handle with functions of its own would cost each agent kilobytes. */
type Own<Names extends keyof Sys> = {
  readonly [Name in Names]: Sys[Name] extends (...given: infer Given) => infer Result
    ? (held: Held, ...given: Given) => Result
    : never;
};

const TELLS: Own<
  "onStep" | "said" | "replied" | "called" | "retries" | "switches" | "setActivity" | "setResult" | "log"
> = {
  onStep: ({ core, proc, thread }, step) => {
    const total = thread?.maxSteps ?? proc.seed.maxSteps;
    proc.stepped();
    proc.tell({ event: "step", pid: proc.pid, step, total }, monoOf(core));
  },
  said: ({ core, proc }, text) => proc.tell({ event: "said", pid: proc.pid, text }, monoOf(core)),
  replied: ({ core, proc, thread }, reply) => {
    if (thread === undefined) tellReply(proc, reply, monoOf(core));
  },
  called: ({ core, proc }, call) => tellCall(core, proc, call),
  retries: ({ core, proc }, { message, ...retry }) => {
    const why = message === undefined ? {} : { message: proc.wording(message) };
    proc.tell({ event: "api_retry", pid: proc.pid, ...retry, ...why }, monoOf(core));
  },
  switches: ({ core, proc }, { from, to, cause }) =>
    proc.tell({ event: "model_switch", pid: proc.pid, from, to, cause }, monoOf(core)),
  setActivity: ({ core, proc }, activity) => {
    proc.life.act(activity);
    proc.work.check();
    // the end of its lead's run may wait for just this
    if (activity === "idle") core.table.get(proc.ppid)?.wake();
  },
  setResult: ({ proc, thread }, text) =>
    thread === undefined ? proc.conclude(text) : thread.setResult(text),
  log: ({ core, proc }, level, message) => proc.log(level, message, monoOf(core)),
};

function monoOf({ ports }: Programming): number {
  return ports.clock.mono();
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

/** An input of the tape, under its name. */
function input<T>(held: Held, name: keyof Sys, read: () => T): T {
  const tape = tapeOf(held);
  return tape === null ? read() : tape.input(name, read);
}

const READS: Own<
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
  | "random"
> = {
  hasMail: (held) => input(held, "hasMail", () => hasMail(held)),
  isPaused: (held) => input(held, "isPaused", () => held.proc.isPaused),
  standing: (held) => input(held, "standing", () => standingOf(held)),
  account: (held) => input(held, "account", () => accountOf(held)),
  mayDoAside: (held) => input(held, "mayDoAside", () => mayDoAside(held)),
  chosenModel: (held) => input(held, "chosenModel", () => takeChosen(held.core, held.proc)),
  hasViewRequest: (held) => input(held, "hasViewRequest", () => viewRequestOf(held.proc) !== null),
  now: (held) => input(held, "now", () => held.core.ports.clock.now()),
  mono: (held) => input(held, "mono", () => monoOf(held.core)),
  today: (held) => input(held, "today", () => localDay(held.core.ports.clock.now())),
  random: (held) => input(held, "random", held.core.ports.random),
};

/** A run may read messages of its own client, and of other processes. */
function hasMail({ proc: { mailbox }, thread, run }: Held): boolean {
  if (thread !== undefined || mailbox === null) return false;
  return run === undefined ? mailbox.isReady : mailbox.has((message) => joins(message, run.client));
}

function standingOf({ core, proc }: Held): string {
  const { child } = proc.seed;
  if (proc.mode === "plan")
    return child === undefined || child.plansFirst === true ? `plan ${pathOf(proc) ?? ""}`.trimEnd() : "plan";
  return isAutoActive(core, proc) ? "auto" : "";
}

function accountOf({ core, proc }: Held): AccountView {
  return { ...proc.seed.account.view(), ...(asksAtLimit(core, proc) ? { asks: true } : {}) };
}

function mayDoAside({ core, proc }: Held): boolean {
  return (
    !proc.seed.account.isBounded &&
    proc.seed.isTimed !== true &&
    proc.labels.length === 0 &&
    proc.seed.session.canAsk &&
    core.ports.models.isModel?.(proc.model.device) !== false
  );
}

const WAITS: Own<"waitIfPaused" | "ahead" | "delay" | "unit" | "viewRequest"> = {
  waitIfPaused: async (held) => {
    const { proc, signal } = held;
    const resumed = (): Promise<void> => proc.halt.untilResumed(signal);
    const tape = tapeOf(held);
    if (tape === null) await resumed();
    else if (tape.input("isHeld", () => proc.isPaused)) await tape.answer("untilResumed", null, resumed);
  },
  ahead: (held, fd, signal) => answer(held, "ahead", fd, () => isAhead(held.proc, fd, signal)),
  delay: (held, ms, signal) => answer(held, "sleep", ms, () => held.core.ports.clock.sleep(ms, signal)),
  unit: ({ proc }, act) => proc.units.run(act),
  // an answer of the tape: a replay waits here where the record of a daemon that died has no more
  viewRequest: (held) => answer(held, "viewRequest", null, async () => viewRequestOf(held.proc)),
};

function answer<T>(held: Held, name: string, args: unknown, look: () => Promise<T>): Promise<T> {
  return tapeOf(held)?.answer(name, args, look) ?? look();
}

async function isAhead({ fds }: Process, fd: Fd, signal: AbortSignal): Promise<boolean> {
  try {
    return (await fds.find(fd, "Read").file.ahead?.(signal)) ?? false;
  } catch {
    return false;
  }
}

const KEEPS: Own<"checkpoint" | "addToCheckpoint" | "measured" | "viewAnswer" | "offerFork" | "offerAside"> =
  {
    checkpoint: (held, state) => keep(held, { state }),
    addToCheckpoint: (held, part) => keep(held, { part }),
    viewAnswer: ({ proc }, id, outcome) => answerView(proc, id, outcome),
    // a fork has the conversation of the process, which is not that of a thread
    offerFork: ({ proc, thread }, offer) => {
      if (thread === undefined) proc.forkOffer = offer;
    },
    offerAside: ({ proc, thread }, prefix) => {
      if (thread === undefined) proc.asideOffer = prefix;
    },
    measured: ({ core, proc, thread }, { reported: tokens, ...change }) => {
      if (thread !== undefined || proc.life.isClosed) return;
      const { records } = core.contexts.view(proc.ctxId);
      const reported = typeof tokens === "number" ? { tokens, records } : tokens;
      core.note(proc, "ctx.gauge", { ...change, ...(reported === undefined ? {} : { reported }) });
    },
  };

function keep({ core, proc, thread }: Held, body: { state: unknown } | { part: unknown }): void {
  if (thread !== undefined) return;
  proc.tape?.flush();
  noteCheckpoint(core, proc, body);
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

/** Each is a method of the handles of programs. */
export const PROGRAM_CALLS: Own<Exclude<keyof Sys, keyof Syscalls | "ending">> = {
  ...TELLS,
  ...READS,
  ...WAITS,
  ...KEEPS,
  ...RUNS,
  beginRun: ({ core, proc }, given, isNew) =>
    handleOf(core, proc, { run: beginRun(core, proc, { given, isNew }) }),
};
