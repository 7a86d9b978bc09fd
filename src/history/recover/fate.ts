/** What becomes of a process that the last daemon left. Pure. */
import type { Notice } from "../../abi/fact.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { KeptState } from "./kept-state.ts";

export type Fate =
  /** It ended with its daemon. */
  | "lost"
  /** Its own part of the kernel decides. */
  | "supervises"
  /** Not in memory, until somebody opens it. */
  | "rests"
  /** Back as it was left: paused. */
  | "paused"
  /** Back, and paused: a person decides whether it goes on. */
  | "asks"
  /** The same, for whoever asked for it may not have heard that it began. */
  | "unheard"
  /** The same, for a daemon stopped while it read this process. */
  | "failed"
  /** The same, and it cannot go on. */
  | "damaged"
  /** Back, and goes on by itself. */
  | "goes_on";

export interface Left {
  readonly kind: ProcessKind;
  /** null: too little was kept of it, or its supervisor decides. */
  readonly kept: Pick<KeptState, "isSession" | "isInteractive" | "onParentExit"> | null;
  /** undefined: it had none but the kernel, or that had ended before. */
  readonly parent: Fate | undefined;
  readonly isOrphan: boolean;
  readonly isPaused: boolean;
  readonly isDamaged: boolean;
  /** It was being read when its daemon ended. */
  readonly isMarked: boolean;
  /** Nobody may have been told of its spawn, and it has done nothing. */
  readonly isUnheard: boolean;
}

export function fateOf(left: Left): Fate {
  const { kind, kept, parent } = left;
  if (kind === "supervisor") return "supervises";
  if (kind !== "agent" || kept === null) return "lost";
  // a family rests together
  if (parent === "rests") return "rests";
  if (left.isOrphan && kept.onParentExit === "terminate") return "lost";
  if (kept.isSession) return "rests";
  if (left.isDamaged) return "damaged";
  if (left.isMarked) return "failed";
  if (left.isPaused) return "paused";
  if (left.isUnheard) return "unheard";
  return kept.isInteractive ? "asks" : "goes_on";
}

/** What its log says of it. */
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
    case "failed":
      return {
        message: "recovery_failed: a daemon stopped while it read this process; it stays paused",
        fact: { kind: "unread", pid },
      };
    case "damaged":
      return {
        message: "its history is damaged, so it was not resumed",
        fact: { kind: "damaged", pid },
      };
    case "goes_on":
      return { message: "its daemon stopped while it worked; it resumes from its last step" };
    case "lost":
    case "rests":
    case "supervises":
      return { message: "" };
  }
}
