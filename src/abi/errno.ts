/** The one list of error codes: wire replies, printed errors and docs come from it. */
export const ERRNO = {
  TIMEOUT: { means: "a deadline passed", retryable: true },
  NOT_FOUND: { means: "process, context, fd, path, agent or name does not exist", retryable: false },
  PERMISSION: { means: "refused by a rule, mode or ownership; write to read-only", retryable: false },
  INTERNAL: { means: "broken state, serialising, a bug", retryable: false },
  DRIVER: { means: "the device failed: model, file, child program", retryable: false },
  INVALID: { means: "bad argument or format", retryable: false },
  BUDGET: { means: "the account or a guard refused", retryable: false },
  CONFLICT: { means: "the state forbids it now; changed underneath", retryable: false },
  CANCELLED: { means: "aborted by signal or caller", retryable: false },
  UNAVAILABLE: { means: "full, down or not ready", retryable: true },
} as const satisfies Record<string, { means: string; retryable: boolean }>;

export type ErrorCode = keyof typeof ERRNO;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERRNO, value);
}
