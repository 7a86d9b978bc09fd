/** What a permitted call is allowed to do. */
import type { Effect } from "../../abi/effects.ts";
import type { CallId } from "../../abi/ids.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Inflow } from "../labels/inflow.ts";
import type { Slot } from "../schedule/scheduler.ts";

/** The narrowed rights of a program under /bin while it runs one permitted call. */
export interface Scope {
  readonly callId: CallId;
  readonly tool: string;
  /** The permitted effects, with `real` filled in. */
  readonly effects: readonly Effect[];
  /** The user's answer allowed it, or one use of a counted grant: that is on disk before the call acts. */
  readonly isGranted?: true;
  /** The call was permitted to read a secret. */
  readonly isSecret?: true;
  /** The labels that the call may bring into the process. Absent: it reads nothing that has labels. */
  readonly inflow?: Inflow;
  /** The tool declares that the call changes nothing but the caller's own lists. */
  readonly readOnly?: boolean;
  /** The sandbox for every OS process started within the call; absent: not decided, and no OS process is started. */
  readonly sandbox?: SandboxProfile | null;
  /** The slot that the call holds in a lane; absent: it needs none. */
  readonly slot?: Slot;
  /** Variables set first in the environment of those OS processes. */
  readonly env?: Readonly<Record<string, string>>;
}
