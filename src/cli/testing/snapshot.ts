import type { WireRow } from "../../abi/methods/process.ts";
import type { Snapshot } from "../screen/top/rows.ts";

export const METRICS = {
  at: 1_700_000_000_000,
  uptime_ms: 62_000,
  rss_bytes: 127_297_126,
  heap_bytes: 63_124_275,
  loop_lag_ms: 1.2,
  processes: 3,
  connections: 2,
  os_children: 3,
  timers: 4,
};

export function aSnapshot(
  rows: readonly WireRow[],
  rates: ReadonlyMap<number, number> = new Map(),
): Snapshot {
  return { rows, rates, metrics: METRICS };
}
