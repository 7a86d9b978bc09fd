/** What a program gets: its handle, which is the system calls and what is of its own process and passes no gate, and its start. */
import { printed } from "../abi/errors.ts";
import { asFd } from "../abi/ids.ts";
import type { ProgramContext } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { isAutoActive } from "../consent/classify/auto-mode.ts";
import { pathOf } from "../consent/plan/plans.ts";
import { localDay } from "../lib/local-day.ts";
import { programSession } from "../session/program-session.ts";
import { asksAtLimit } from "./account/raise.ts";
import type { Core } from "./core.ts";
import { tellCall } from "./gate/call-told.ts";
import type { Process } from "./process/process.ts";
import type { ThreadSeat } from "./process/thread/thread.ts";

export function programOf(core: Core, proc: Process, seat?: ThreadSeat): ProgramContext {
  const { conversation } = proc;
  const context = (ofRun?: AbortSignal) => seatContext(core, proc, seat, ofRun);
  if (seat !== undefined || conversation === null) return context();
  const session = programSession(core, proc, conversation, (signal) => ({ ...context(signal), session }));
  return { ...context(), session };
}

/** `ofRun`: one run of a session ends with it. */
function seatContext(
  core: Core,
  proc: Process,
  seat: ThreadSeat | undefined,
  ofRun: AbortSignal | undefined,
): ProgramContext {
  const { seed, pid } = proc;
  const maxSteps = seat?.maxSteps ?? seed.maxSteps;
  const signal = seat?.signal ?? ofRun ?? proc.abort.signal;
  return {
    sys: programHandle(core, proc, { ...(seat && { thread: seat }), ...(ofRun && { ofRun }) }),
    pid,
    ctxId: proc.ctxId,
    intent: seat?.intent ?? seed.intent,
    agent: seed.agent,
    cwd: seed.cwd,
    modelFd: seat?.modelFd ?? asFd(3),
    modelDevice: proc.modelDevice,
    model: proc.model,
    maxSteps,
    signal,
    clock: core.ports.clock,
    random: core.ports.random,
    today: () => localDay(core.ports.clock.now()),
    input: seat === undefined && proc.fds.has(asFd(0)) ? asFd(0) : null,
    mounts: core.mounts.namedBy(pid),
    toolset: 2,
    restored: seat === undefined ? proc.restored : null,
    checkpoint: (state) => {
      if (seat === undefined) noteCheckpoint(core, proc, { state });
    },
    addToCheckpoint: (part) => {
      if (seat === undefined) noteCheckpoint(core, proc, { part });
    },
    session: null,
    hasMail: () => seat === undefined && proc.mailbox?.isReady === true,
    isPaused: () => proc.paused !== null,
    ...(seat === undefined ? { standing: () => standingOf(core, proc) } : {}),
    unit: (act) => proc.units.run(act),
    waitIfPaused: () => proc.untilResumed(signal),
    account: () => ({ ...seed.account.view(), ...(asksAtLimit(core, proc) ? { asks: true } : {}) }),
  };
}

function standingOf(core: Core, proc: Process): string {
  if (proc.mode === "plan") return `plan ${pathOf(proc) ?? ""}`.trimEnd();
  return isAutoActive(core, proc) ? "auto" : "";
}

/** One that is paused may be the one that a later daemon brings back: then it does not wait for company. */
function noteCheckpoint(core: Core, proc: Process, body: { state: unknown } | { part: unknown }): void {
  // what a program does after its end does not count
  if (proc.isResting || proc.revoked) return;
  core.note(proc, "process.checkpoint", body);
  if (proc.paused === null) return;
  core.ports.journal.sync().catch((error: unknown) => {
    core.ports.log("error", `pid ${proc.pid}: its place could not be recorded: ${printed(error)}`);
  });
}

/** Where in its process a program runs. `ofRun`: its calls end with one run of a session. */
interface Seat {
  readonly thread?: ThreadSeat;
  readonly ofRun?: AbortSignal;
}

function programHandle(core: Core, proc: Process, seat: Seat): Sys {
  const calls = core.handle(proc, null, seat.thread?.signal ?? seat.ofRun);
  return Object.assign(calls, tellsOf(core, proc, seat));
}

type Tells = Pick<Sys, "onStep" | "said" | "called" | "setActivity" | "setResult" | "log">;

function tellsOf(core: Core, proc: Process, { thread }: Seat): Tells {
  const { pid, seed } = proc;
  const total = thread?.maxSteps ?? seed.maxSteps;
  const mono = (): number => core.ports.clock.mono();
  return {
    onStep: (step) => proc.tell({ event: "step", pid, step, total }, mono()),
    said: (text) => proc.tell({ event: "said", pid, text }, mono()),
    called: (call) => tellCall(core, proc, call),
    setActivity: (activity) => {
      if (!proc.isLive) return;
      proc.activity = activity;
      proc.workChanged();
    },
    setResult:
      thread?.setResult ??
      ((text) => {
        if (proc.isLive) proc.result = text;
      }),
    log: (level, message) => proc.log(level, message, mono()),
  };
}
