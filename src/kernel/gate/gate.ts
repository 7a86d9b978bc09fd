/**
 * The gate. Every call of user space passes here, once: refused for a dead handle, run, traced. Calls with effects go on
 * to guard.ts, where they are permitted, reserved, journalled and settled. There is no other way to an effect.
 */

import { ContextError, Fault, printed, SyscallError, VfsError } from "../../abi/errors.ts";
import type { SyscallEvent } from "../../abi/events.ts";
import { OWN_CALLS } from "../../history/replay/tape.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { Call, CallName, CallPass, Pass, ResultOf } from "./call.ts";
import type { Scope } from "./scope.ts";

/** One that may use all of the kernel. */
export type KernelCall<Name extends CallName, Args> = Call<Name, Args, Core, Process>;
type KernelPass = CallPass<Core, Process>;

/** What comes from outside passes the tape of a process that has one; what is its own is written behind that. */
export function enter<Name extends CallName, Args>(
  core: Core,
  self: Process,
  call: KernelCall<Name, Args>,
  args: Args,
  scope: Scope | null,
  signal?: AbortSignal,
  ofThread?: AbortSignal,
): Promise<ResultOf<Name>> {
  const { tape } = self;
  const pass = (): Promise<ResultOf<Name>> => through(core, self, call, args, scope, signal, ofThread);
  if (tape === null || scope !== null) return pass();
  const own = OWN_CALLS.get(call.name);
  if (own === undefined) return tape.answer(call.name, args, pass);
  if (own === "changes") tape.flush();
  return pass();
}

/** Past the tape: a call of the kernel in the name of a process, of which its program knows nothing. */
export async function through<Name extends CallName, Args>(
  core: Core,
  self: Process,
  call: KernelCall<Name, Args>,
  args: Args,
  scope: Scope | null,
  signal?: AbortSignal,
  /** Of the thread whose handle it is. */
  ofThread?: AbortSignal,
): Promise<ResultOf<Name>> {
  using linked = linkSignals(self.abort.signal, signal, ofThread);
  const { signal: ending } = linked;
  const pass: KernelPass = { core, self, signal: ending, scope, trace: {}, cancel: () => linked.abort() };
  let began = core.ports.clock.mono();
  // what a tool does within its call is part of that
  if (scope === null) self.stillness.begin();
  try {
    if (call.holds === true && scope === null && self.paused !== null) {
      await held(self, call.name, linked.signal);
      // what ends a pause may be the end of the process
      if (linked.signal.aborted) throw cancelled(self, call.name);
      began = core.ports.clock.mono();
    }
    if (self.revoked || (signal?.aborted ?? false)) throw cancelled(self, call.name);
    const result = await call.run(pass, args);
    trace(core, self, call, args, began, pass, { result });
    return result;
  } catch (thrown) {
    const error = documented(self, call.name, thrown, linked.signal);
    trace(core, self, call, args, began, pass, { error });
    throw error;
  } finally {
    if (scope === null) self.stillness.end();
  }
}

/** Within a call. Returns when the process is not paused, or goes on; CANCELLED when the call is given up there. */
export async function held(self: Process, name: string, signal: AbortSignal): Promise<void> {
  while (self.paused !== null) {
    try {
      await self.stillness.suspend(abortable(self.paused.promise, signal));
    } catch (error) {
      throw cancelled(self, name, error);
    }
  }
}

function trace<Name extends CallName, Args>(
  core: Core,
  self: Process,
  call: KernelCall<Name, Args>,
  args: Args,
  began: number,
  pass: Pass,
  outcome: { result: ResultOf<Name> } | { error: Error },
): void {
  const { debug } = self;
  if (debug === null) return;
  const result = "result" in outcome ? call.result?.(outcome.result) : undefined;
  const event: SyscallEvent = {
    timestampMs: began - self.seed.createdMono,
    pid: self.pid,
    syscall: call.name,
    args: worded(self, cut(call.args(args))),
    ...(result === undefined ? {} : { result }),
    ...("error" in outcome ? { error: self.wording(printed(outcome.error)) } : {}),
    durationMs: Math.round((core.ports.clock.mono() - began) * 1000) / 1000,
    ...(call.quiet === true ? { quiet: true } : {}),
    ...pass.trace,
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

/** What a trace shows is read by others. */
function worded(self: Process, args: Record<string, unknown>): Record<string, unknown> {
  for (const [key, value] of Object.entries(args))
    if (typeof value === "string" && value.length >= 8) args[key] = self.wording(value);
  return args;
}

/** Every error that leaves the gate is a documented one: an abort is CANCELLED, anything unknown is a bug, INTERNAL. */
function documented(self: Process, syscall: string, thrown: unknown, signal: AbortSignal): Error {
  if (thrown instanceof SyscallError || thrown instanceof VfsError || thrown instanceof ContextError)
    return thrown;
  const { pid } = self;
  if (thrown instanceof Fault) {
    const { code, message, device, hint } = thrown;
    return new SyscallError({ syscall, pid, code, message, device, hint, cause: thrown });
  }
  if (signal.aborted) return cancelled(self, syscall, thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SyscallError({ syscall, pid, code: "INTERNAL", message, cause: thrown });
}

export function cancelled(self: Process, syscall: string, cause?: unknown): SyscallError {
  return new SyscallError({ syscall, pid: self.pid, code: "CANCELLED", message: "cancelled", cause });
}
