/** What a program gets: its handle, which is the system calls and what is of its own process and passes no gate, and its start. */
import { printed } from "../abi/errors.ts";
import { asFd } from "../abi/ids.ts";
import type { ProgramContext } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { isAutoActive } from "../consent/classify/auto-mode.ts";
import { pathOf } from "../consent/plan/plans.ts";
import type { Tape } from "../history/replay/tape.ts";
import { localDay } from "../lib/local-day.ts";
import { programSession, type RunSeat } from "../session/program-session.ts";
import { asksAtLimit } from "./account/raise.ts";
import type { Core } from "./core.ts";
import { tellCall } from "./gate/call-told.ts";
import { joins } from "./ipc/joins.ts";
import type { Process } from "./process/process.ts";
import type { ThreadSeat } from "./process/thread/thread.ts";

/** Where in its process a program runs: in a thread, in one run of a session, or as the process itself. */
interface Seat {
  readonly thread?: ThreadSeat;
  readonly run?: RunSeat;
}

export function programOf(core: Core, proc: Process, thread?: ThreadSeat): ProgramContext {
  const { conversation } = proc;
  if (thread !== undefined) return contextOf(core, proc, { thread });
  if (conversation === null) return contextOf(core, proc, {});
  const session = programSession({ core, proc, conversation }, (run) => ({
    ...contextOf(core, proc, { run }),
    client: run.client,
    session,
  }));
  return { ...contextOf(core, proc, {}), session };
}

function contextOf(core: Core, proc: Process, seat: Seat): ProgramContext {
  const { seed, pid } = proc;
  const { thread } = seat;
  const signal = signalOf(proc, seat);
  return {
    sys: handleOf(core, proc, seat),
    pid,
    ctxId: proc.ctxId,
    intent: thread?.intent ?? seed.intent,
    agent: seed.agent,
    cwd: seed.cwd,
    modelFd: thread?.modelFd ?? asFd(3),
    modelDevice: proc.model.device,
    model: proc.model.name,
    maxSteps: thread?.maxSteps ?? seed.maxSteps,
    signal: tapeOf(proc, seat)?.signal(signal) ?? signal,
    input: thread === undefined && proc.fds.has(asFd(0)) ? asFd(0) : null,
    mounts: core.mounts.namedBy(pid),
    toolset: 2,
    ...(thread === undefined ? { modes: true } : {}),
    restored: thread === undefined ? proc.restored : null,
    session: null,
  };
}

/** Fires at TERM, INT, KILL, timeout. */
function signalOf(proc: Process, { thread, run }: Seat): AbortSignal {
  return thread?.signal ?? run?.signal ?? proc.abort.signal;
}

/** Threads have none: nobody knows which of them asked for what. */
function tapeOf(proc: Process, { thread }: Seat): Tape | null {
  return thread === undefined ? proc.tape : null;
}

function handleOf(core: Core, proc: Process, seat: Seat): Sys {
  const calls = core.handle(proc, null, (seat.thread ?? seat.run)?.signal);
  const more = [tells, reads, waits, keeps].map((part) => part(core, proc, seat));
  // its calls are methods of its class
  return Object.assign(calls, ...more) as Sys;
}

type Tells = "onStep" | "said" | "called" | "setActivity" | "setResult" | "log";

function tells(core: Core, proc: Process, { thread }: Seat): Pick<Sys, Tells> {
  const { pid, seed } = proc;
  const total = thread?.maxSteps ?? seed.maxSteps;
  const mono = (): number => core.ports.clock.mono();
  return {
    onStep: (step) => proc.tell({ event: "step", pid, step, total }, mono()),
    said: (text) => proc.tell({ event: "said", pid, text }, mono()),
    called: (call) => tellCall(core, proc, call),
    setActivity: (activity) => {
      proc.life.act(activity);
      proc.work.check();
    },
    setResult:
      thread?.setResult ??
      ((text) => {
        if (proc.isLive) proc.result = text;
      }),
    log: (level, message) => proc.log(level, message, mono()),
  };
}

type Reads = "hasMail" | "isPaused" | "standing" | "account" | "now" | "mono" | "today" | "random";

/** Each is an input of the tape, by its name. */
function reads(core: Core, proc: Process, seat: Seat): Pick<Sys, Reads> {
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
    now: input("now", () => clock.now()),
    mono: input("mono", () => clock.mono()),
    today: input("today", () => localDay(clock.now())),
    random: input("random", random),
  };
}

/** What a run may read is its client's, and of other processes. */
function hasMail({ mailbox }: Process, { thread, run }: Seat): boolean {
  if (thread !== undefined || mailbox === null) return false;
  return run === undefined ? mailbox.isReady : mailbox.has((message) => joins(message, run.client));
}

function standingOf(core: Core, proc: Process): string {
  if (proc.mode === "plan") return `plan ${pathOf(proc) ?? ""}`.trimEnd();
  return isAutoActive(core, proc) ? "auto" : "";
}

function waits(core: Core, proc: Process, seat: Seat): Pick<Sys, "waitIfPaused" | "delay" | "unit"> {
  const resumed = (): Promise<void> => proc.halt.untilResumed(signalOf(proc, seat));
  return {
    waitIfPaused: async () => {
      const tape = tapeOf(proc, seat);
      if (tape === null) await resumed();
      else if (tape.input("isHeld", () => proc.isPaused)) await tape.answer("untilResumed", null, resumed);
    },
    delay: (ms, signal) => {
      const sleep = (): Promise<void> => core.ports.clock.sleep(ms, signal);
      return tapeOf(proc, seat)?.answer("sleep", ms, sleep) ?? sleep();
    },
    unit: (act) => proc.units.run(act),
  };
}

function keeps(core: Core, proc: Process, { thread }: Seat): Pick<Sys, "checkpoint" | "addToCheckpoint"> {
  const keep = (body: { state: unknown } | { part: unknown }): void => {
    if (thread !== undefined) return;
    proc.tape?.flush();
    noteCheckpoint(core, proc, body);
  };
  return { checkpoint: (state) => keep({ state }), addToCheckpoint: (part) => keep({ part }) };
}

/** One that is paused may be the one that a later daemon brings back: then it does not wait for company. */
function noteCheckpoint(core: Core, proc: Process, body: { state: unknown } | { part: unknown }): void {
  // what a program does after its end does not count
  if (proc.life.isClosed) return;
  core.note(proc, "process.checkpoint", body);
  if (!proc.isPaused) return;
  core.ports.journal.sync().catch((error: unknown) => {
    core.ports.log("error", `pid ${proc.pid}: its place could not be recorded: ${printed(error)}`);
  });
}
