/** What a process is told at its spawn, and never changes. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode, ProcessKind } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { Account } from "../account/account.ts";
import type { Session } from "./session.ts";

/** What everybody may know of what a process runs; body.ts has the rest. */
export interface BodyFacts {
  readonly kind: ProcessKind;
  /** Agent name, program, supervisor name; "" in general mode. */
  readonly name: string;
  readonly agent: AgentInfo | null;
  /** A process of this kind that works keeps the daemon alive. */
  readonly isActive: boolean;
  /** ms from a TERM that acts by default, or a deadline, to KILL; absent: the usual. */
  readonly termGraceMs?: number;
}

export interface ProcessSeed {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  readonly kind: ProcessKind;
  readonly body: BodyFacts;
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly skills: readonly string[];
  readonly createdAt: Date;
  /** Monotonic milliseconds of creation. */
  readonly createdMono: number;
  readonly cwd: string;
  readonly roots: readonly string[];
  /** A folder of its own, writable without asking; "" none. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
  /** At its spawn. Nothing changes them; what a person gives or takes since is a grant. */
  readonly rights: Rights;
  /** In which it begins. */
  readonly mode: PermissionMode;
  /** Those above it at its spawn, nearest first: whom grants for a subtree reach. */
  readonly line: readonly Pid[];
  readonly maxSteps: number;
  readonly account: Account;
  readonly session: Session;
  /** An agent stands above it: as an OS process it runs in a sandbox. */
  readonly confined?: boolean;
  /** Makes words that others read fit to be read; absent: as they are. */
  readonly wording?: (text: string) => string;
  readonly onParentExit: "reparent" | "terminate";
  /** A person talks to it: it waits for the next message instead of ending. */
  readonly isSession?: boolean;
  /** Of a session: whose message the intent is. */
  readonly client?: string;
}
