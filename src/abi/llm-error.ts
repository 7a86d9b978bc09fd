/**
 * A failed model attempt. Drivers throw it; the loop decides by its kind; all other code treats it as a DriverError.
 */
import { DriverError } from "./errors.ts";
import { LLM_ERROR_KINDS, type LlmErrorKind } from "./llm.ts";

/** A provider or a model refuses what is asked, and would again. */
export const REFUSAL_HINT = "Say it in another way, or ask another model (-m).";

export class LlmError extends DriverError {
  readonly kind: LlmErrorKind;
  readonly status: number | undefined;
  /** From the header Retry-After; undefined: the server named no time. */
  readonly retryAfterMs: number | undefined;
  /** From the header x-should-retry: overrides the kind. */
  readonly shouldRetry: boolean | undefined;
  constructor(fields: {
    kind: LlmErrorKind;
    message: string;
    device?: string | undefined;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
    shouldRetry?: boolean | undefined;
    hint?: string | undefined;
    cause?: unknown;
  }) {
    super({ ...fields, code: LLM_ERROR_KINDS[fields.kind], op: "Write" });
    this.kind = fields.kind;
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs;
    this.shouldRetry = fields.shouldRetry;
  }
}

/** The model error in a chain of causes (the VFS wraps what a driver throws). */
export function findLlmError(error: unknown): LlmError | undefined {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof LlmError) return e;
  }
  return undefined;
}
