/** What an earlier daemon left of a process, and whether a later daemon can restore it. */
import { codeOf, Fault, messageOf } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Restored } from "../../abi/program.ts";

/** A record of another process, up to which the history of that process is this one's too. */
interface ForkedFrom {
  readonly from: ProcUuid;
  readonly at: number;
}

export class Past {
  /** Set for an internal fork, at its spawn. */
  origin: ForkedFrom | null = null;

  #isRestorable = false;
  #isSuspect = false;
  #read: (() => Promise<void>) | null = null;
  #restored: Restored | null = null;

  /** The journal holds all that a later daemon needs to restore the process. */
  get isRestorable(): boolean {
    return this.#isRestorable;
  }

  /** The state that its program saved under an earlier daemon; null: a fresh start. */
  get restored(): Restored | null {
    return this.#restored;
  }

  /** The process was restored, but its history is not read yet. */
  get isUnread(): boolean {
    return this.#read !== null;
  }

  /** Reading its history has failed, or has ended a daemon. */
  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  /** Its history was not read, and may be for its last words. */
  get hasUnreadWords(): boolean {
    return this.#read !== null && !this.#isSuspect;
  }

  /** Called at the spawn. */
  keep(isRestorable: boolean): void {
    this.#isRestorable = isRestorable;
  }

  /** Called when the process is restored: `read` reads its history on first need. */
  back(read: () => Promise<void>): void {
    this.#isRestorable = true;
    this.#read = read;
  }

  /** Reads the history, if not yet done. Concurrent callers wait for the same read. */
  async recall(): Promise<void> {
    await this.#read?.();
  }

  /** It is never read: the process ends as it is. */
  giveUp(): void {
    this.#read = null;
  }

  /** Reading it has failed, or has ended a daemon: only who resumes the process, or looks at it, tries again. */
  suspect(): void {
    this.#isSuspect = true;
  }

  /** Called when the history was read. */
  recalled(restored: Restored | null): void {
    this.#restored = restored;
    this.#read = null;
  }
}

/** Reads the history of a restored process, if it is unread. CONFLICT: it cannot be read. */
export async function recalled({ pid, past }: { readonly pid: Pid; readonly past: Past }): Promise<void> {
  await readable(pid, () => past.recall());
}

/** UNAVAILABLE: the disk is at fault, not the history. CONFLICT: the history is damaged. */
export async function readable<T>(pid: Pid, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === "UNAVAILABLE") throw error;
    const why = `its history cannot be read: ${messageOf(error)}`;
    throw cannotResume(pid, { why, isDamaged: true, cause: error });
  }
}

interface Refused {
  readonly why: string;
  readonly isDamaged?: boolean;
  readonly cause?: unknown;
}

export function cannotResume(pid: Pid, { why, isDamaged = false, cause }: Refused): Fault {
  const fact = isDamaged ? ({ kind: "damaged", pid } as const) : undefined;
  return new Fault({ code: "CONFLICT", message: `process ${pid} cannot be resumed: ${why}`, fact, cause });
}
