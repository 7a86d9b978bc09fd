/** The calls of signals. process/signal/deliver.ts has what a signal then does. */

import { Fault } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type Disposition, isSignal, SIGNALS, type Signal, type SignalAction } from "../../abi/process.ts";
import { abortable } from "../../lib/abort.ts";
import { checkLasting } from "../gate/covers.ts";
import type { KernelCall } from "../gate/gate.ts";
import type { KernelPass } from "../gate/passage.ts";
import type { Scope } from "../gate/scope.ts";
import { LIMITS } from "../limits.ts";
import type { JournalHold } from "../ports/journal-hold.ts";
import { recalled } from "../process/past.ts";
import type { Process } from "../process/process.ts";
import {
  checkKept,
  type Delivering,
  expire,
  recorded,
  type SignalKeeping,
  unblock,
} from "../process/signal/deliver.ts";
import { letGoBelow } from "../process/signal/let-go.ts";
import type { ProcessTable } from "../process/table.ts";

/** The parts of the kernel that sending a signal uses. */
type Signalling = SignalKeeping & {
  readonly table: Pick<ProcessTable, "require" | "childrenOf">;
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  readonly sessions: {
    isHere(pid: Pid): boolean;
    signalResting(pid: Pid, signal: Signal): Promise<Disposition | undefined>;
  };
  deliver(proc: Process, signal: Signal): Promise<Disposition>;
};

/** The parts of the kernel that change how a process takes a signal. */
type Masking = Delivering & { readonly table: Pick<ProcessTable, "require"> };

/** Signal(pid, signal): like kill(), but returns how the process took the signal. */
const signal: KernelCall<"signal", { pid: Pid; signal: Signal }, Signalling> = {
  name: "Signal",
  holds: true,
  take: (pid, signal) => ({ pid, signal }),
  args: ({ pid, signal }) => ({ pid, signal }),
  result: (disposition) => disposition,
  run: (pass, wanted) => sendSignal(pass, "Signal", wanted),
};

interface Wanted {
  readonly pid: Pid;
  readonly signal: Signal;
}

/** It acts at once; the caller gets the answer when it is recorded. */
async function sendSignal(
  pass: KernelPass<Signalling>,
  syscall: "Kill" | "Signal",
  { pid, signal }: Wanted,
): Promise<Disposition> {
  const { core, self } = pass;
  checkSignal(signal);
  if (self.pid === PID_KERNEL && !core.sessions.isHere(pid)) {
    const met = await core.sessions.signalResting(pid, signal);
    if (met !== undefined) return met;
  }
  const proc = core.table.require(self.pid, pid, syscall, "control");
  checkKept(pass, syscall, signal);
  // resuming a process of an earlier daemon recalls its history first, so that the user gets an error if that fails;
  // any other signal acts in this turn
  const isUnread = proc.past.isUnread && proc.isPaused;
  if (isUnread && self.pid === PID_KERNEL && signal === SIGNALS.SIGRESUME) await recalled(proc);
  const { why } = proc.halt;
  const disposition = await core.deliver(proc, signal);
  if (why === "crash" && !proc.isPaused) await letGoBelow(core, proc);
  if (disposition !== "ignored") await recorded(core);
  return disposition;
}

/** Kill(pid, signal): on a zombie or dead process a no-op. */
const kill: KernelCall<"kill", { pid: Pid; signal: Signal }, Signalling> = {
  name: "Kill",
  holds: true,
  take: (pid, signal) => ({ pid, signal }),
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(pass, wanted) {
    await sendSignal(pass, "Kill", wanted);
  },
};

/** SigBlock(pid, signal): from now on the signal stays pending until it is unblocked, or for a time. */
const sigBlock: KernelCall<"sigBlock", { pid: Pid; signal: Signal; forMs?: number | undefined }, Masking> = {
  name: "SigBlock",
  take: (pid, signal, forMs) => ({ pid, signal, forMs }),
  args: ({ pid, signal }) => ({ pid, signal }),
  run(pass, { pid, signal, forMs }) {
    const { core, self, scope } = pass;
    checkMaskable(pass, { syscall: "SigBlock", pid, signal });
    checkTime(scope, forMs);
    const proc = core.table.require(self.pid, pid, "SigBlock", "control");
    if (!proc.isLive) return;
    expire(core, proc, signal, forMs);
    proc.ownSignals().block(signal);
  },
};

/** SigUnblock(pid, signal): a pending signal is delivered and its handler run before the call returns. */
const sigUnblock: KernelCall<"sigUnblock", { pid: Pid; signal: Signal }, Masking> = {
  name: "SigUnblock",
  take: (pid, signal) => ({ pid, signal }),
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(pass, { pid, signal }) {
    const { core, self } = pass;
    checkMaskable(pass, { syscall: "SigUnblock", pid, signal });
    const proc = core.table.require(self.pid, pid, "SigUnblock", "control");
    const heeded = unblock(core, proc, signal);
    // the delivered signal may have ended the caller: nothing is left to wait for
    if (!pass.signal.aborted) await abortable(heeded, pass.signal);
  },
};

/** SigHandle(signal): sets the caller's own action for a signal, from now on. */
const sigHandle: KernelCall<
  "sigHandle",
  { signal: Signal; action: SignalAction; forMs?: number | undefined },
  Masking
> = {
  name: "SigHandle",
  take: (signal, action, forMs) => ({ signal, action, forMs }),
  args: ({ signal }) => ({ signal }),
  run(pass, { signal, action, forMs }) {
    const { core, self, scope } = pass;
    checkMaskable(pass, { syscall: "SigHandle", pid: self.pid, signal });
    // a function of a tool would outlast its call
    if (!ACTIONS.has(action) && (typeof action !== "function" || scope !== null))
      throw new Fault({ code: "INVALID", message: `not an action: ${String(action)}` });
    // pid 0 takes no signals: it is not in the table
    const proc = core.table.require(self.pid, self.pid, "SigHandle", "control");
    if (action === "default") {
      proc.signals?.unhandle(signal);
      return;
    }
    checkTime(scope, forMs);
    expire(core, proc, signal, forMs);
    proc.ownSignals().handle(signal, action);
  },
};

const ACTIONS: ReadonlySet<unknown> = new Set(["default", "ignore", "message"]);

/** INVALID unless 1 to 5. */
export function checkSignal(signal: unknown): void {
  if (isSignal(signal)) return;
  const message = `not a signal: ${String(signal)}; signals are 1 to 5`;
  throw new Fault({ code: "INVALID", message });
}

interface Change {
  readonly syscall: string;
  readonly pid: Pid;
  readonly signal: unknown;
}

/**
 * For calls that change how a process takes a signal: KILL is INVALID too. PERMISSION for a program under /bin that did
 * not declare it, changes another process, or would put off a pause.
 */
function checkMaskable({ self, scope }: KernelPass<unknown>, { syscall, pid, signal }: Change): void {
  checkSignal(signal);
  if (signal === SIGNALS.SIGKILL)
    throw new Fault({ code: "INVALID", message: "SIGKILL can be neither blocked nor handled" });
  checkLasting(scope, "signals", { self, syscall });
  if (scope === null) return;
  const refused = (message: string) => new Fault({ code: "PERMISSION", message: `${scope.tool} ${message}` });
  if (pid !== self.pid) throw refused("may not change how another process takes signals");
  // a pause is the user's way to hold an agent
  if (signal !== SIGNALS.SIGTERM && signal !== SIGNALS.SIGINT)
    throw refused("may change how SIGTERM and SIGINT are taken, and no other signal");
}

/** INVALID: no positive time; or a tool names none, or a longer one than the user may have to wait. */
function checkTime(scope: Scope | null, forMs: number | undefined): void {
  if (forMs === undefined && scope === null) return;
  const most = scope === null ? Number.MAX_SAFE_INTEGER : LIMITS.signalsChangedMs;
  if (Number.isInteger(forMs) && Number(forMs) >= 1 && Number(forMs) <= most) return;
  throw new Fault({ code: "INVALID", message: `forMs must be 1 to ${most}: ${forMs}` });
}

export const signalCalls = { signal, kill, sigBlock, sigUnblock, sigHandle };
