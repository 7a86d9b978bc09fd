import type { ProcessRow } from "../../kernel/ports/journal.ts";

/**
 * How old a process is that an earlier daemon had, ms: up to its last record, and not less than it ran. What the wall clock says by
 * now is left out: it may have been set since, and while no daemon was there nothing went by for the process.
 */
export function ageMs(
  { createdAt }: Pick<ProcessRow, "createdAt">,
  row: Pick<ProcessRow, "lastAt" | "ranMs"> | undefined,
): number {
  const { lastAt = createdAt, ranMs = 0 } = row ?? {};
  return Math.max(0, ranMs, lastAt - createdAt);
}
