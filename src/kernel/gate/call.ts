/** What a kernel call is: a name, how it is traced, and what it does. One call, one file; table.ts lists them. */
import type { Effect } from "../../abi/effects.ts";
import type { CallId } from "../../abi/ids.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Core } from "../core.ts";
import type { Inflow } from "../labels/inflow.ts";
import type { Process } from "../process/process.ts";

/** The narrowed rights of a program under /bin while it runs one permitted call. */
export interface Scope {
  readonly callId: CallId;
  readonly tool: string;
  /** With `real` filled in. */
  readonly effects: readonly Effect[];
  /** It was let read a secret. */
  readonly isSecret?: true;
  /** What it may bring in. Absent: nothing that has labels. */
  readonly inflow?: Inflow;
  /** The tool says that the call changes nothing but the caller's own lists. */
  readonly readOnly?: boolean;
  /** Of every OS process that is started within the call; absent: none was decided on, and none is started. */
  readonly sandbox?: SandboxProfile | null;
  /** In the environment of those processes, before all else. */
  readonly env?: Readonly<Record<string, string>>;
}

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
