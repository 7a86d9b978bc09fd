/** What went wrong with a request, in documented words. A call whose end is not known says so: it is never sent again. */
import { DriverError, messageOf } from "../../abi/errors.ts";
import { driverError, type FileOp, unreadError } from "../driver-error.ts";
import type { Sdk } from "./sdk.ts";

/** A request as error texts name it. */
export interface Sent {
  /** `memory create_entities`, `tools/list` */
  readonly what: string;
  readonly op: FileOp;
  /** It may have had effects: what became of it matters. */
  readonly isCall: boolean;
}

/** A remote server does not know the session any more and has done nothing: the request may be sent in a new one. */
export class SessionGone extends DriverError {}

const RESOURCE_NOT_FOUND = -32_002;
/** Nobody was there: nothing was sent. */
const UNREACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
/** Beyond these of one kind in a row, a remote connection counts as lost. */
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

/** Of what changes nothing, an unknown end is no more than a failure. */
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

/** The errno behind a failed fetch. */
export function networkErrno(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if ("code" in at && typeof at.code === "string" && TERMINAL.has(at.code)) return at.code;
  return undefined;
}

/** One line of foreign text. */
function plain(error: unknown): string {
  return messageOf(error)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .slice(0, 2_000);
}
