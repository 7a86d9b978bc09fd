import type { DaemonClient } from "../../daemon/client.ts";
import { allProcesses } from "../../daemon/processes.ts";
import type { Snapshot } from "../../screen/top/rows.ts";
import type { TokenRates } from "../../screen/top/token-rates.ts";

/** Sends the first page and the metrics at once; requests are answered in order. */
export async function look(client: DaemonClient, rates: TokenRates): Promise<Snapshot> {
  const [processes, metrics] = await Promise.all([
    allProcesses(client, "process.list"),
    client.request("kernel.metrics", {}),
  ]);
  return { rows: processes, rates: rates.update(processes), metrics };
}
