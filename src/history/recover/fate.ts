/** Decides what happens to a process that the last daemon left unfinished. Pure. */
import type { Notice } from "../../abi/fact.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { KeptState } from "../../kernel/process/kept-state.ts";

export type Fate =
  /** Ended with its daemon. */
  | "lost"
  /** A supervisor: src/supervise restores it. */
  | "supervises"
  /** Not in memory until a client opens it. */
  | "rests"
  /** Restored, and paused as it was before. */
  | "paused"
  /** Restored and paused: the user decides whether to resume it. */
  | "asks"
  /** Restored and paused: its client may not have been notified of its start. */
  | "unheard"
  /** Restored and paused: a daemon stopped while reading its history, which is read again once the others run. */
  | "put_off"
  /** Restored and paused: daemons stopped while reading its history. */
  | "failed"
  /** The same of a child whose parent goes on: it ends, and so its parent is told. */
  | "given_up"
  /** Restored and paused, and it cannot be resumed: its history is damaged. */
  | "damaged"
  /** The same of a child whose parent goes on: it ends, and so its parent is told. */
  | "unreadable"
  /** Its worktree is gone, whatever it was: it ends, and its parent is told. Nothing runs in the checkout. */
  | "homeless"
  /** Restored and running. */
  | "goes_on";

export interface Left {
  readonly kind: ProcessKind;
  /** null: too little was recorded, or its supervisor restarts it. */
  readonly kept: Pick<KeptState, "isSession" | "isInteractive" | "isPutOff" | "onParentExit"> | null;
  /** The fate of its parent; undefined: the parent is the kernel, or had ended before. */
  readonly parent: Fate | undefined;
  readonly isOrphan: boolean;
  readonly isPaused: boolean;
  readonly isDamaged: boolean;
  /** Its history was being read when the daemon ended. */
  readonly isMarked: boolean;
  /** Its client may not have been notified of its spawn, and it has done nothing yet. */
  readonly isUnheard: boolean;
}

export function fateOf(left: Left): Fate {
  const { kind, kept, parent } = left;
  if (kind === "supervisor") return "supervises";
  if (kind !== "agent" || kept === null) return "lost";
  // children rest together with their parent
  if (parent === "rests") return "rests";
  if (left.isOrphan && kept.onParentExit === "terminate") return "lost";
  if (kept.isSession) return "rests";
  if (left.isDamaged) return parent === "goes_on" ? "unreadable" : "damaged";
  if (left.isMarked) return fateOfMarked(left, kept);
  if (left.isPaused) return kept.isPutOff === true ? "put_off" : "paused";
  if (left.isUnheard) return "unheard";
  return kept.isInteractive ? "asks" : "goes_on";
}

/** A daemon that is killed from outside while it reads leaves a mark, too: so a tree that needs nobody reads it once more. */
function fateOfMarked({ parent, isPaused }: Left, kept: NonNullable<Left["kept"]>): Fate {
  if (kept.isPutOff === true) return parent === "goes_on" ? "given_up" : "failed";
  return kept.isInteractive || isPaused ? "failed" : "put_off";
}

/** The notice written to the log of the process. */
export function noticeOf(fate: Fate, pid: number): Notice {
  switch (fate) {
    case "paused":
      return { message: "brought back by a new daemon, paused" };
    case "asks":
      return { message: "its daemon stopped while it worked; it is paused", fact: { kind: "paused", pid } };
    case "unheard":
      return {
        message: "the daemon stopped just after starting it; the client may not have heard; it is paused",
        fact: { kind: "paused", pid },
      };
    case "put_off":
      return {
        message: "recovery_failed: a daemon stopped while it read this process; it is read again soon",
        fact: { kind: "unread", pid },
      };
    case "failed":
      return {
        message: "recovery_failed: a daemon stopped while it read this process; it stays paused",
        fact: { kind: "unread", pid },
      };
    case "given_up":
      return { message: "recovery_failed: two daemons stopped while they read this process; it has ended" };
    case "unreadable":
      return {
        message: "recovery_failed: its history is damaged; it has ended",
        fact: { kind: "damaged", pid },
      };
    case "damaged":
      return {
        message: "its history is damaged, so it was not resumed",
        fact: { kind: "damaged", pid },
      };
    case "homeless":
      return { message: "recovery_failed: its worktree is gone; it has ended" };
    case "goes_on":
      return { message: "its daemon stopped while it worked; it resumes from its last step" };
    case "lost":
    case "rests":
    case "supervises":
      return { message: "" };
  }
}
