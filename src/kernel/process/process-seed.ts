/** What a process is given at its spawn; it never changes. */
import type { AgentInfo, AgentMap } from "../../abi/agent.ts";
import type { ChildMark } from "../../abi/child.ts";
import { type ForkWish, isInternal } from "../../abi/fork.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode, ProcessKind } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { Account } from "../account/account.ts";
import type { Session } from "./session.ts";

/** The public facts of what a process runs; body.ts has the rest. */
export interface BodyFacts {
  readonly kind: ProcessKind;
  /** Agent name, program, supervisor name; "" in general mode. */
  readonly name: string;
  readonly agent: AgentInfo | null;
  /** A working process of this kind keeps the daemon alive. */
  readonly isActive: boolean;
  /** ms from TERM by its default action, or from a deadline, to KILL; absent: `LIMITS.termGraceMs`. */
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
  /** A folder of its own, writable without approval; "" for none. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
  /** The rights at its spawn. They never change; what the user allows or denies later is a grant. */
  readonly rights: Rights;
  /** The permission mode in which it begins. */
  readonly mode: PermissionMode;
  /** Its ancestors at its spawn, nearest first: a subtree grant to any of them applies to it. */
  readonly line: readonly Pid[];
  readonly maxSteps: number;
  readonly account: Account;
  readonly session: Session;
  /** An agent is among its ancestors, or its spawner asked for it: as an OS process it runs in a sandbox. */
  readonly confined?: boolean;
  /** Redacts secrets in text that others read; absent: the text is left unchanged. */
  readonly wording?: (text: string) => string;
  readonly onParentExit: "reparent" | "terminate";
  /** It ends when its time is over. */
  readonly isTimed?: true;
  /** A session with the user: it waits for the next message instead of ending. */
  readonly isSession?: boolean;
  /** A fork that its parent started of itself. */
  readonly fork?: ForkWish;
  /** A fork that the user made: first messages of its conversation that agents have written. Absent: none. */
  readonly tasks?: readonly string[];
  /** With a session: the client whose message the intent is. */
  readonly client?: string;
  /** Agents that the user gave with the run; all below it may be started by these names. */
  readonly agents?: AgentMap;
  /** A call of a model started it. */
  readonly child?: ChildMark;
}

/** What the program of an agent is told of beside its conversation; an internal fork has all of that from its parent. */
export function toldOf({ fork, child, line: [lead] }: Pick<ProcessSeed, "fork" | "child" | "line">) {
  const begun = fork?.prefix === undefined ? {} : { fork: fork.prefix };
  if (isInternal(fork?.label)) return begun;
  // its directive is not typed by the user
  if (fork !== undefined) return { ...begun, modes: true, surroundings: true } as const;
  const isMember = child?.team !== undefined && lead !== undefined;
  const team = isMember ? { team: { name: child.name ?? "", lead } } : {};
  return { modes: true, surroundings: true, slash: true, ...team } as const;
}
