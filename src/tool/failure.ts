/** A tool's failure: thrown inside a call; the device turns it into data for the model. */
import type { ErrorCode } from "../abi/errno.ts";
import { DriverError, MALFORMED_CALL } from "../abi/errors.ts";

/** `message`: what failed, in words; `hint`: what to try next. */
export function failure(code: ErrorCode, message: string, hint?: string, cause?: unknown): DriverError {
  return new DriverError({ op: "Write", code, message, hint, cause });
}

/** The arguments are not what the tool accepts. */
export function badArguments(message: string, cause?: unknown): DriverError {
  return new DriverError({ op: "Write", code: "INVALID", message, details: MALFORMED_CALL, cause });
}
