/** The shape of a method of the kernel IPC chapter, and schemas that several of them share. Keys are camelCase. */
import * as z from "zod";
import type { ErrorCode } from "../../errno.ts";
import type { MethodSpec } from "../spec.ts";

/**
 * `right` is also the scope that a process needs. `idempotent: false`: a repeated request takes effect once more,
 * unless it has an idempotency key. `errors`: besides those that every method may return.
 */
export interface IpcMethodSpec extends Omit<MethodSpec, "right"> {
  /** `user`: no process may call it. */
  readonly right: MethodSpec["right"] | "user";
  readonly result: z.ZodType;
  readonly idempotent: boolean;
  readonly errors?: readonly ErrorCode[];
  /** What a subscription sends. */
  readonly chunk?: z.ZodType;
}

export const timeMs = z.int().min(0);
