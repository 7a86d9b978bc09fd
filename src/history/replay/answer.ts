/**
 * Converts answers of calls to plain data and back. Bytes, dates and documented errors with their causes are restored
 * exactly.
 */
import { isErrorCode } from "../../abi/errno.ts";
import { ContextError, DriverError, Fault, SyscallError, VfsError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { asCtxId, asPid } from "../../abi/ids.ts";
import { LLM_ERROR_KINDS, type LlmErrorKind } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";

type Plain = Record<string, unknown>;
const MAX_CAUSES = 8;

/** Text if the bytes are valid UTF-8, so that it is readable in the journal; otherwise base64. */
function packBytes(bytes: Uint8Array): { text: string } | { base64: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  // decoding replaces invalid bytes, so the text would encode differently
  const isSame = Buffer.byteLength(text) === buffer.byteLength && Buffer.from(text).equals(buffer);
  return isSame ? { text } : { base64: buffer.toString("base64") };
}

/** `undefined` stays; anything that is not plain data is tagged. */
export function packAnswer(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: packBytes(value) };
  if (value instanceof Date) return { $date: value.getTime() };
  if (value instanceof Error) return { $error: packError(value) };
  if (Array.isArray(value)) return value.map(packAnswer);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, packAnswer(each)]));
}

export function unpackAnswer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpackAnswer);
  if (typeof value !== "object" || value === null) return value;
  const { $bytes, $date, $error } = value as Plain;
  if ($bytes !== undefined) return unpackBytes($bytes as Plain);
  if ($date !== undefined) return new Date(Number($date));
  if ($error !== undefined) return unpackError($error);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unpackAnswer(each)]));
}

/** A separate copy: a program may keep the bytes it reads. */
function unpackBytes({ text, base64 }: Plain): Uint8Array {
  const buffer = text === undefined ? Buffer.from(String(base64), "base64") : Buffer.from(String(text));
  return new Uint8Array(buffer);
}

const FIELDS = [
  "device",
  "hint",
  "fact",
  "details",
  "syscall",
  "op",
  "pid",
  "cid",
  "kind",
  "status",
  "retryAfterMs",
  "shouldRetry",
];

/** Includes at most `MAX_CAUSES` causes. */
export function packError(error: unknown, depth = 0): Plain {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const known = error as Error & Plain;
  const code = known.code === undefined ? {} : { code: known.code };
  const packed: Plain = { name: error.name, message: error.message, ...code };
  if (error instanceof Fault)
    for (const field of FIELDS) if (known[field] !== undefined) packed[field] = known[field];
  if (error.cause !== undefined && depth < MAX_CAUSES) packed.cause = packError(error.cause, depth + 1);
  return packed;
}

export function unpackError(packed: unknown): Error {
  const { cause: below, ...fields } = packed as Plain;
  const cause = below === undefined ? undefined : unpackError(below);
  return faultOf(fields, cause) ?? plainError(fields, cause);
}

function faultOf(fields: Plain, cause: Error | undefined): Fault | undefined {
  const { name, code, message, device, hint } = fields as { [name: string]: string | undefined };
  if (!isErrorCode(code)) return undefined;
  const details = (fields.details ?? undefined) as object | undefined;
  const fact = (fields.fact ?? undefined) as Fact | undefined;
  const own = {
    code,
    message: message ?? "",
    device,
    hint,
    fact,
    details,
    ...(cause === undefined ? {} : { cause }),
  };
  const [op, pid] = [String(fields.op), asPid(Number(fields.pid))];
  switch (name) {
    case "SyscallError":
      return new SyscallError({ ...own, syscall: String(fields.syscall), pid });
    case "VfsError":
      return new VfsError({ ...own, op, pid });
    case "ContextError":
      return new ContextError({ ...own, op, cid: asCtxId(Number(fields.cid)) });
    case "LlmError":
      return llmError(fields, own);
    case "DriverError":
    case "UnreadError":
      return new DriverError({ ...own, op });
    default:
      return name === "Fault" ? new Fault(own) : undefined;
  }
}

function llmError(fields: Plain, own: ConstructorParameters<typeof Fault>[0]): LlmError | undefined {
  const { kind, status, retryAfterMs, shouldRetry } = fields as {
    kind?: LlmErrorKind;
    status?: number;
    retryAfterMs?: number;
    shouldRetry?: boolean;
  };
  if (kind === undefined || !Object.hasOwn(LLM_ERROR_KINDS, kind)) return undefined;
  return new LlmError({ ...own, kind, status, retryAfterMs, shouldRetry });
}

/** An error of the platform, restored with its name and code. */
function plainError({ name, message, code }: Plain, cause: Error | undefined): Error {
  const error = new Error(String(message), cause === undefined ? undefined : { cause });
  error.name = String(name);
  return code === undefined ? error : Object.assign(error, { code });
}
