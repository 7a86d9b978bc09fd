/**
 * What a kernel call is: how it is taken, how it is traced, and what it does. The calls of a noun are in one file of calls/;
 * handle.ts has the table of all. A call names what it needs of the kernel and of its caller, and nothing else.
 */
import type { Syscalls } from "../../abi/sys.ts";
import type { Scope } from "./scope.ts";

/** One passage through the gate. */
export interface Pass {
  /** Fires when the caller gives up or its process ends. */
  readonly signal: AbortSignal;
  readonly scope: Scope | null;
  /** Gives this call up, and nothing else. Absent: nobody can. */
  readonly cancel?: () => void;
  /** What the trace shows beside the arguments; a call that knows its device fills it in. */
  readonly trace: { device?: string; traffic?: "message" | "byte" };
}

/** The same for a call: on what, and who calls. */
export interface CallPass<Kernel, Self> extends Pass {
  readonly core: Kernel;
  readonly self: Self;
}

export type CallName = Exclude<keyof Syscalls, "getPid">;
export type ResultOf<Name extends CallName> = Awaited<ReturnType<Syscalls[Name]>>;

/** `Syscalls[Name]`, as the kernel does it. `Kernel`, `Self`: what it uses of them. */
export interface Call<Name extends CallName, Args, Kernel, Self> {
  /** The traced name: `CtxWrite`. */
  readonly name: Capitalize<Name>;
  /** Traced only for readers that ask for all. */
  readonly quiet?: boolean;
  /** Begins something: while the process is paused it waits. What only ends what has begun does not. */
  readonly holds?: boolean;
  /** The arguments by name; a recording has a digest of them, so their names and order stay. The gate takes the signal. */
  take(...given: Parameters<Syscalls[Name]>): Args;
  /** Traced arguments, keys in alphabetical order, data replaced by its size. */
  args(args: Args): Record<string, unknown>;
  /** Traced result; absent: none. */
  result?(result: ResultOf<Name>): unknown;
  run(pass: CallPass<Kernel, Self>, args: Args): Promise<ResultOf<Name>> | ResultOf<Name>;
}
