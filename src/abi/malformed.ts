/** Malformed calls: the tool does not accept their arguments, and nothing was done. */
import { Fault } from "./errors.ts";

/** The `details` of such an error. */
export const MALFORMED_CALL = { malformed: true } as const;

/** Also finds the error of the device if it is wrapped. */
export function isMalformedCall(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof Fault && (e.details as Partial<typeof MALFORMED_CALL> | undefined)?.malformed)
      return true;
  }
  return false;
}
