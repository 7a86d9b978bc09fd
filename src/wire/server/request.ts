/**
 * Parses one line into a request: first its envelope, then its payload by the method's schema. Every error is INVALID.
 */
import type * as z from "zod";
import { Fault } from "../../abi/errors.ts";
import { type IpcMethodName, isIpcMethod } from "../../abi/methods/ipc/methods.ts";
import { METHODS, type MethodName, type Params } from "../../abi/methods/methods.ts";
import type { WireRequest } from "../../abi/wire.ts";
import { parseLine } from "../codec/ndjson.ts";

const MAX_ID_BYTES = 128;

export type RequestId = NonNullable<WireRequest["id"]>;

export type ParsedRequest =
  | {
      readonly kind: "request";
      readonly id?: RequestId;
      readonly method: MethodName | IpcMethodName;
      readonly payload: unknown;
      readonly meta: unknown;
    }
  | { readonly kind: "bad"; readonly id?: RequestId; readonly error: Fault };

/** The envelope. Unknown keys beside `id`, `method`, `payload` and `meta` are ignored. */
export function parseRequest(line: Buffer): ParsedRequest {
  let value: unknown;
  try {
    value = parseLine(line);
  } catch (error) {
    return bad(`line is not a request: ${error instanceof Error ? error.message : "not JSON"}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return bad("line is not a request: not an object");
  const { id, method, payload, meta } = value as Readonly<Record<string, unknown>>;
  if (id !== undefined && !isRequestId(id))
    return bad(`line is not a request: id must be a string or number of at most ${MAX_ID_BYTES} bytes`);
  const echoed = id === undefined ? {} : { id };
  if (typeof method !== "string") return { ...echoed, ...bad("line is not a request: no method") };
  if (!isMethodName(method) && !isIpcMethod(method))
    return { ...echoed, ...bad(`unknown method: ${method.slice(0, 128)}`) };
  return { kind: "request", ...echoed, method, payload, meta };
}

/**
 * The payload by the method's schema; an absent payload is empty. Throws INVALID with the path of the first bad field.
 */
export function parseParams<M extends MethodName>(method: M, payload: unknown): Params<M> {
  const parsed = METHODS[method].params.safeParse(payload === undefined ? {} : payload);
  if (parsed.success) return parsed.data as Params<M>;
  throw invalid(describeIssue(parsed.error.issues[0], "payload"));
}

export function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}

/** INVALID: not base64. */
export function bytesIn(data: string | Uint8Array, encoding: "utf8" | "base64"): Uint8Array {
  if (typeof data !== "string") return data;
  if (encoding === "base64" && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(data))
    throw invalid("params.data: not base64");
  return Buffer.from(data, encoding);
}

/** `root`: the key of the request under which the payload stands. */
export function describeIssue(issue: z.core.$ZodIssue | undefined, root: "payload" | "params"): string {
  if (issue === undefined) return `${root}: not valid`;
  const path = [root, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys")
    return `${path}.${String(issue.keys[0]).slice(0, 128)}: unknown key`;
  return `${path}: ${issue.message.replace(/^Invalid input: /, "")}`;
}

function bad(message: string): { kind: "bad"; error: Fault } {
  return { kind: "bad", error: invalid(message) };
}

function isRequestId(id: unknown): id is RequestId {
  return (
    (typeof id === "number" && Number.isFinite(id)) ||
    (typeof id === "string" && Buffer.byteLength(id) <= MAX_ID_BYTES)
  );
}

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}
