/** What a kernel call is: a name, how it is traced, and what it does. One call, one file; table.ts lists them. */
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
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

export interface Call<A, R> {
  /** The traced name: `CtxWrite`. */
  readonly name: string;
  /** Traced only for readers that ask for all. */
  readonly quiet?: boolean;
  /** Begins something: while the process is paused it waits. What only ends what has begun does not. */
  readonly holds?: boolean;
  /** Traced arguments, keys in alphabetical order, data replaced by its size. */
  args(args: A): Record<string, unknown>;
  /** Traced result; absent: none. */
  result?(result: R): unknown;
  run(core: Core, self: Process, args: A, pass: Pass): Promise<R> | R;
}
