/** When a server that ended is started again. A pure decision. */
import { MCP_LIMITS } from "./limits.ts";

interface Crashes {
  /** Restarts so far, monotonic ms, oldest first. */
  readonly restarts: readonly number[];
  /** Crashes since it last stayed up for a window. */
  readonly inRow: number;
}

/** ms until the next start; null: it has failed too often. */
export function restartDelay({ restarts, inRow }: Crashes, nowMs: number): number | null {
  const recent = restarts.filter((at) => at > nowMs - MCP_LIMITS.restartWindowMs);
  if (recent.length >= MCP_LIMITS.restarts) return null;
  return Math.min(MCP_LIMITS.maxBackoffMs, MCP_LIMITS.backoffMs * 2 ** (inRow - 1));
}
