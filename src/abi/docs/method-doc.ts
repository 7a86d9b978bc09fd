/**
 * What the reference of the wire (`docs/wire.md`) says of a method beside its schemas. Only the generator and the tests
 * load it: neither the client nor the daemon starts with it.
 */
import type { ErrorCode } from "../errno.ts";
import type { MethodName, Params, Result } from "../methods/methods.ts";
import type { WireStreamLine } from "../wire.ts";

export interface MethodDoc<M extends MethodName> {
  /** Its errors, besides those that every method may return. */
  readonly errors: Partial<Record<ErrorCode, string>>;
  /** The payload of the example; tests check it against the schema. */
  readonly params: Params<M>;
  readonly result: Result<M>;
  /** For a stream: a sentence on its lines. */
  readonly stream?: string;
  readonly lines?: readonly WireStreamLine[];
}

/** One for each method: a missing one does not compile. */
export type MethodDocs<M extends MethodName> = { readonly [K in M]: MethodDoc<K> };

export const NO_PROCESS = "No process has this pid.";
export const NO_PROCESS_ON_RECORD = "No process has this pid, or its history was removed.";
export const KEY_REUSED = "The `idempotency_key` belongs to another request.";
export const DAMAGED = "The history of the process is damaged, or too little of it was recorded.";
export const AT = "2026-03-01T09:30:00.000Z";
export const AT_MS = 1_772_357_400_000;
export const UUID = "0195e0a4-7c11-7d3a-9f00-2b1c8a6e5d42";
export const HASH = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9";
