/** A call that the gate refused without asking a person, as programs and clients are told of it. */
import { Fault } from "./errors.ts";
import type { Remedy } from "./fact.ts";

export interface Refusal {
  readonly tool: string;
  /** The call in one line. */
  readonly what: string;
  readonly reason: string;
  /** What would have allowed it, the narrowest that works; null: nothing known. Absent in what an earlier version has kept. */
  readonly remedy?: Remedy | null;
}

/** What a refused call carries in its `details`. */
interface RefusalDetails {
  readonly refused: Refusal;
  /** Nobody is there who could allow it. */
  readonly isUnattended: boolean;
}

export function refusalDetails(refused: Refusal, isUnattended: boolean): RefusalDetails {
  return { refused, isUnattended };
}

/** Of a call that nobody could be asked about; undefined: the error is another one. */
export function findUnattendedRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Fault) || error.code !== "PERMISSION") return undefined;
  const { refused, isUnattended } = (error.details ?? {}) as Partial<RefusalDetails>;
  return isUnattended === true ? refused : undefined;
}
