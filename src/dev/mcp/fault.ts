/**
 * Converts the failure of a request to a documented error. If the outcome of a call is unknown, the error says so:
 * such a call is never sent again.
 */
import { DriverError, messageOf } from "../../abi/errors.ts";
import { driverError, type FileOp, unreadError } from "../driver-error.ts";
import type { Sdk } from "./sdk.ts";

/** A request, as named in error messages. */
export interface Sent {
  /** `memory create_entities`, `tools/list` */
  readonly what: string;
  readonly op: FileOp;
  /** True if the request may have had effects, so that its outcome matters. */
  readonly isCall: boolean;
}

/**
 * A remote server no longer knows the session and has done nothing: the request may be sent again in a new session.
 */
export class SessionGone extends DriverError {}

const RESOURCE_NOT_FOUND = -32_002;
/** Errors of a failed connect: nothing was sent. */
const UNREACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
/** Network errors; a ping that fails with one of them means that the connection is lost. */
const TERMINAL = new Set([
  ...UNREACHED,
  "ECONNRESET",
  "ETIMEDOUT",
  "EPIPE",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export function faultOf(sdk: Sdk, error: unknown, sent: Sent): Error {
  if (error instanceof DriverError) return error;
  if (error instanceof sdk.ProtocolError) {
    if (error.code === RESOURCE_NOT_FOUND && !sent.isCall)
      return unreadError(sent.op, "NOT_FOUND", `${sent.what}: the server has no such resource`, error);
    const code = error.code === RESOURCE_NOT_FOUND ? "NOT_FOUND" : "DRIVER";
    return driverError(sent.op, code, `${sent.what}: ${plain(error)} (error ${error.code})`, error);
  }
  if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.ConnectionClosed)
    return unknownEnd(sent, "the server ended during the call", error);
  const status = httpStatus(sdk, error);
  if (status !== undefined) return httpFault(status, error, sent);
  const errno = networkErrno(error);
  if (errno === undefined) return driverError(sent.op, "DRIVER", `${sent.what}: ${plain(error)}`, error);
  if (UNREACHED.has(errno))
    return unreadError(sent.op, "UNAVAILABLE", `${sent.what}: no answer (${errno}); nothing was sent`, error);
  return unknownEnd(sent, `the connection broke (${errno})`, error);
}

/** An unknown outcome; for a request without effects it is an ordinary failure. */
function unknownEnd(sent: Sent, why: string, cause?: unknown): DriverError {
  if (!sent.isCall) return driverError(sent.op, "UNAVAILABLE", `${sent.what}: ${why}`, cause);
  return driverError(sent.op, "DRIVER", `${sent.what}: ${why}: its outcome is unknown`, cause);
}

function httpFault(status: number, error: unknown, sent: Sent): Error {
  if (status === 401 || status === 403)
    return unreadError(
      sent.op,
      "PERMISSION",
      `${sent.what}: the server wants to know who asks (HTTP ${status})`,
      error,
    );
  if (status === 404) {
    const message = `${sent.what}: the server has forgotten the session; nothing was done`;
    return new SessionGone({ op: sent.op, code: "UNAVAILABLE", message, cause: error });
  }
  if (status >= 500) return unknownEnd(sent, `HTTP ${status}`, error);
  return driverError(sent.op, "DRIVER", `${sent.what}: HTTP ${status}: ${plain(error)}`, error);
}

export function httpStatus(sdk: Sdk, error: unknown): number | undefined {
  if (error instanceof sdk.UnauthorizedError) return 401;
  return error instanceof sdk.SdkHttpError ? error.data.status : undefined;
}

/** The errno that caused a failed fetch, if it is one of TERMINAL. */
export function networkErrno(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if ("code" in at && typeof at.code === "string" && TERMINAL.has(at.code)) return at.code;
  return undefined;
}

/** Foreign text as one line, without control characters. */
function plain(error: unknown): string {
  return messageOf(error)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .slice(0, 2_000);
}
