/** A call that the gate refused without asking the user, as reported to programs and clients. */
import { Fault } from "./errors.ts";
import type { Remedy } from "./fact.ts";

export interface Refusal {
  readonly tool: string;
  /** The call in one line. */
  readonly what: string;
  readonly reason: string;
  /** The narrowest rule or mode that would have allowed it; null: none known. Absent in records of earlier versions. */
  readonly remedy?: Remedy | null;
}

/** The `details` of the error of a refused call. */
interface RefusalDetails {
  readonly refused: Refusal;
  /** Nobody was attached to approve it. */
  readonly isUnattended: boolean;
}

export function refusalDetails(refused: Refusal, isUnattended: boolean): RefusalDetails {
  return { refused, isUnattended };
}

/** The refusal of a call that nobody was attached to approve; undefined: the error is a different one. */
export function findUnattendedRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Fault) || error.code !== "PERMISSION") return undefined;
  const { refused, isUnattended } = (error.details ?? {}) as Partial<RefusalDetails>;
  return isUnattended === true ? refused : undefined;
}
