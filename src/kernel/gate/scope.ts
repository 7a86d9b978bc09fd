/** What a permitted call may. */
import type { Effect } from "../../abi/effects.ts";
import type { CallId } from "../../abi/ids.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Inflow } from "../labels/inflow.ts";

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
