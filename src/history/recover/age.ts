import type { ProcessRow } from "../../kernel/ports/journal.ts";

/**
 * The age of a process of an earlier daemon, ms: up to its last record, and at least its run time. The present wall
 * clock is not used: it may have been set since, and time without a daemon does not count for the process.
 */
export function ageMs(
  { createdAt }: Pick<ProcessRow, "createdAt">,
  row: Pick<ProcessRow, "lastAt" | "ranMs"> | undefined,
): number {
  const { lastAt = createdAt, ranMs = 0 } = row ?? {};
  return Math.max(0, ranMs, lastAt - createdAt);
}
