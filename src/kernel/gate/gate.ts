/**
 * The gate. Every call of user space passes here once: refused for a dead handle, run, traced. Calls with effects
 * continue in guard.ts, where they are permitted, reserved, journalled and settled. An effect cannot happen any other
 * way.
 */

import { ContextError, Fault, printed, SyscallError, VfsError } from "../../abi/errors.ts";
import type { SyscallEvent } from "../../abi/events.ts";
import type { Clock } from "../../abi/program.ts";
import { linkSignals } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import { OWN_CALLS } from "../ports/tape.ts";
import type { Process } from "../process/process.ts";
import type { Call, CallName, CallPass, Pass, ResultOf } from "./call.ts";
import type { Scope } from "./scope.ts";

/** What entering the gate needs of the kernel. */
export interface Timed {
  readonly ports: { readonly clock: Pick<Clock, "mono"> };
}

/** A call on the whole of its process, with the parts of the kernel that it uses. */
export type KernelCall<Name extends CallName, Args, Kernel = unknown> = Call<Name, Args, Kernel, Process>;

/** The process in whose name calls come in, and their rights. */
export interface Entrant<Kernel> {
  readonly core: Kernel;
  readonly self: Process;
  readonly scope: Scope | null;
  /** The signal of the thread that holds the handle. */
  readonly ofThread?: AbortSignal | undefined;
}

/** One incoming call. */
interface CallEntry<Name extends CallName, Args, Kernel extends Timed> extends Entrant<Kernel> {
  readonly call: KernelCall<Name, Args, Kernel>;
  readonly args: Args;
  /** Fires when the caller cancels the call. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls to the outside pass through the tape if the process has one. Calls on the process's own state bypass it, but
 * the tape is flushed before a change.
 */
export function enter<Name extends CallName, Args, Kernel extends Timed>(
  entry: CallEntry<Name, Args, Kernel>,
): Promise<ResultOf<Name>> {
  const { self, scope, call, args } = entry;
  const { tape } = self;
  if (tape === null || scope !== null) return through(entry);
  const own = OWN_CALLS.get(call.name);
  if (own === undefined) return tape.answer(call.name, args, () => through(entry));
  if (own === "changes") tape.flush();
  return through(entry);
}

/** Bypasses the tape: a call the kernel makes in the name of a process, unknown to its program. */
export async function through<Name extends CallName, Args, Kernel extends Timed>(
  entry: CallEntry<Name, Args, Kernel>,
): Promise<ResultOf<Name>> {
  const { core, self, scope, call, args } = entry;
  using linked = linkSignals(self.abort.signal, entry.signal, entry.ofThread);
  const pass: CallPass<Kernel, Process> = {
    core,
    self,
    get signal() {
      return linked.signal;
    },
    scope,
    trace: {},
    cancel: () => linked.abort(),
  };
  let began = core.ports.clock.mono();
  // a tool's calls within its own call count as part of that one
  if (scope === null) self.halt.quiescence.begin();
  try {
    if (call.holds === true && scope === null && self.isPaused) {
      await held(self, call.name, linked.signal);
      // the pause may have ended because the process did
      if (linked.signal.aborted) throw cancelled(self, call.name);
      began = core.ports.clock.mono();
    }
    if (self.life.isClosed || (entry.signal?.aborted ?? false)) throw cancelled(self, call.name);
    const result = await call.run(pass, args);
    trace(entry, { began, trace: pass.trace, result });
    return result;
  } catch (thrown) {
    const error = documented(entry, thrown, linked.signal);
    trace(entry, { began, trace: pass.trace, error });
    throw error;
  } finally {
    if (scope === null) self.halt.quiescence.end();
  }
}

/**
 * Called inside a call. Returns when the process is not paused, or resumes; CANCELLED when the call is cancelled
 * meanwhile.
 */
export async function held(self: Process, name: string, signal: AbortSignal): Promise<void> {
  try {
    await self.halt.suspended(signal);
  } catch (error) {
    throw cancelled(self, name, error);
  }
}

/** The outcome of a call. */
type Went<Result> = Pick<Pass, "trace"> & { readonly began: number } & (
    | { readonly result: Result }
    | { readonly error: Error }
  );

function trace<Name extends CallName, Args>(
  entry: CallEntry<Name, Args, Timed>,
  went: Went<ResultOf<Name>>,
): void {
  const { core, self, call } = entry;
  const { debug } = self;
  if (debug === null) return;
  const result = "result" in went ? call.result?.(went.result) : undefined;
  const event: SyscallEvent = {
    timestampMs: went.began - self.seed.createdMono,
    pid: self.pid,
    syscall: call.name,
    args: worded(self, cut(call.args(entry.args))),
    ...(result === undefined ? {} : { result }),
    ...("error" in went ? { error: self.wording(printed(went.error)) } : {}),
    durationMs: Math.round((core.ports.clock.mono() - went.began) * 1000) / 1000,
    ...(call.quiet === true ? { quiet: true } : {}),
    ...went.trace,
  };
  debug.emit(event);
}

function cut(args: Record<string, unknown>): Record<string, unknown> {
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === "string" && value.length > LIMITS.traceStringChars) {
      args[key] = value.slice(0, LIMITS.traceStringChars);
    }
  }
  return args;
}

/** Redacts secrets: others read the trace. */
function worded(self: Process, args: Record<string, unknown>): Record<string, unknown> {
  for (const [key, value] of Object.entries(args))
    if (typeof value === "string" && value.length >= 8) args[key] = self.wording(value);
  return args;
}

/** Every error that leaves the gate is a documented one: an abort is CANCELLED, anything unknown is a bug, INTERNAL. */
function documented<Name extends CallName, Args>(
  { self, call }: CallEntry<Name, Args, Timed>,
  thrown: unknown,
  signal: AbortSignal,
): Error {
  if (thrown instanceof SyscallError || thrown instanceof VfsError || thrown instanceof ContextError)
    return thrown;
  const own = { syscall: call.name, pid: self.pid, cause: thrown };
  if (thrown instanceof Fault) {
    const { code, message, device, hint } = thrown;
    return new SyscallError({ ...own, code, message, device, hint });
  }
  if (signal.aborted) return cancelled(self, call.name, thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SyscallError({ ...own, code: "INTERNAL", message });
}

export function cancelled(self: Process, syscall: string, cause?: unknown): SyscallError {
  return new SyscallError({ syscall, pid: self.pid, code: "CANCELLED", message: "cancelled", cause });
}
