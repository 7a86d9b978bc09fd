/** Requests and answers of the binary wire: their envelopes, without the method's own params and result. */
import { ERRNO } from "../../../abi/errno.ts";
import type { Fault } from "../../../abi/errors.ts";
import { IPC, type IpcFault, type IpcResponse, type RequestMeta } from "../../../abi/ipc.ts";
import { ulid } from "../../../lib/ulid.ts";
import { toWireError } from "../../codec/error.ts";
import { invalid } from "../request.ts";

/** When a client may try again after UNAVAILABLE, if the error does not say. */
const RETRY_AFTER_MS = 1_000;

export type Envelope =
  | {
      readonly kind: "request";
      readonly id: string;
      readonly method: string;
      readonly params: unknown;
      readonly meta: RequestMeta;
    }
  | { readonly kind: "bad"; readonly id: string; readonly error: Fault };

/** Unknown keys of the envelope and of `meta` are ignored. */
export function parseEnvelope({ id, method, params, meta }: Readonly<Record<string, unknown>>): Envelope {
  const known = typeof id === "string" && Buffer.byteLength(id) <= IPC.maxIdBytes ? id : undefined;
  const bad = (message: string): Envelope => ({ kind: "bad", id: known ?? "", error: invalid(message) });
  if (id === undefined) return bad("not a request: no id");
  if (known === undefined) return bad(`not a request: id must be a string of 1 to ${IPC.maxIdBytes} bytes`);
  if (method === undefined) return bad("not a request: no method");
  if (typeof method !== "string") return bad("not a request: method must be a string");
  if (known === "" && method !== "stream.credit") return bad("not a request: id is empty");
  if (meta !== undefined && !isMap(meta)) return bad("meta: must be a map");
  const wrong = meta === undefined ? undefined : wrongIn(meta);
  if (wrong !== undefined) return bad(wrong);
  return { kind: "request", id: known, method, params: params ?? {}, meta: (meta ?? {}) as RequestMeta };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function wrongIn(meta: Record<string, unknown>): string | undefined {
  const { timeoutMs } = meta;
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && (timeoutMs as number) >= 0))
    return "meta.timeoutMs: must be an integer of at least 0";
  for (const key of ["correlationId", "causationId", "intentId", "idempotencyKey", "traceparent"]) {
    const value = meta[key];
    if (value === undefined) continue;
    if (typeof value !== "string" || value === "" || Buffer.byteLength(value) > IPC.maxIdBytes)
      return `meta.${key}: must be a string of 1 to ${IPC.maxIdBytes} bytes`;
  }
  return undefined;
}

export function faultOf(error: unknown, redact: (text: string) => string): IpcFault {
  const { code, message, syscall, device, hint, details } = toWireError(error);
  const more = { ...details, ...(hint === undefined ? {} : { hint: redact(hint) }) };
  const { retryAfterMs = RETRY_AFTER_MS, retryable } = (details ?? {}) as Partial<IpcFault>;
  return {
    code,
    message: redact(message),
    retryable: code === "DRIVER" && retryable !== undefined ? retryable : ERRNO[code].retryable,
    ...(code === "UNAVAILABLE" ? { retryAfterMs } : {}),
    ...(Object.keys(more).length === 0 ? {} : { details: more }),
    ...(syscall === undefined ? {} : { syscall }),
    ...(device === undefined ? {} : { device }),
  };
}

export function failed(id: string, fault: IpcFault, requestId?: string): IpcResponse {
  const meta = requestId === undefined ? {} : { meta: { requestId } };
  return { id, result: null, error: fault.message, fault, ...meta };
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** The last characters, which count. */
const COUNTED = 4;
const MOST = 32 ** COUNTED;
const PAIRS = [...DIGITS].flatMap((first) => [...DIGITS].map((second) => `${first}${second}`));

/**
 * The kernel's own names of requests, `r_` and a ULID (github.com/ulid/spec). Of one millisecond only the first is made
 * anew; the others count on from it, as the standard has it for rising ids.
 */
export class RequestIds {
  #now = -1;
  #begin = "";
  #count = MOST;

  next(now: number): string {
    if (now !== this.#now || this.#count >= MOST) {
      this.#now = now;
      this.#begin = `r_${ulid(Math.floor(now), Math.random).slice(0, -COUNTED)}`;
      this.#count = 0;
    }
    const n = this.#count++;
    return `${this.#begin}${PAIRS[n >> 10]}${PAIRS[n & 1023]}`;
  }
}
