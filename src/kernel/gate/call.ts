/**
 * The definition of a kernel call: how it takes its arguments, how it is traced, and what it does. The calls of one
 * subject are in one file of calls/; handle.ts has the table of all. A call declares which parts of the kernel and the
 * caller it needs.
 */
import type { Syscalls } from "../../abi/sys.ts";
import type { Scope } from "./scope.ts";

/** One passage through the gate. */
export interface Pass {
  /** Fires when the caller cancels the call or its process ends. */
  readonly signal: AbortSignal;
  readonly scope: Scope | null;
  /** Cancels this call only. Absent: it cannot be cancelled. */
  readonly cancel?: () => void;
  /** What the trace shows beside the arguments; a call on a device fills it in. */
  readonly trace: { device?: string; traffic?: "message" | "byte" };
}

/** The same with the kernel and the calling process. */
export interface CallPass<Kernel, Self> extends Pass {
  readonly core: Kernel;
  readonly self: Self;
}

export type CallName = Exclude<keyof Syscalls, "getPid">;
export type ResultOf<Name extends CallName> = Awaited<ReturnType<Syscalls[Name]>>;

/**
 * The kernel's implementation of `Syscalls[Name]`. `Kernel`, `Self`: the parts of the kernel and the caller that it
 * uses.
 */
export interface Call<Name extends CallName, Args, Kernel, Self> {
  /** The traced name: `CtxWrite`. */
  readonly name: Capitalize<Name>;
  /** Traced only for readers that ask for all calls. */
  readonly quiet?: boolean;
  /**
   * The call begins something, so it waits while the process is paused. A call that only ends something does not wait.
   */
  readonly holds?: boolean;
  /**
   * The arguments by name. Recordings hold a digest of them: never change names or order. The gate takes the signal.
   */
  take(...given: Parameters<Syscalls[Name]>): Args;
  /** Traced arguments, keys in alphabetical order, data replaced by its size. */
  args(args: Args): Record<string, unknown>;
  /** The traced result; absent: none is traced. */
  result?(result: ResultOf<Name>): unknown;
  run(pass: CallPass<Kernel, Self>, args: Args): Promise<ResultOf<Name>> | ResultOf<Name>;
}
