import type { DaemonClient } from "../../daemon/client.ts";
import type { Snapshot } from "../../screen/top/rows.ts";
import type { TokenRates } from "../../screen/top/token-rates.ts";

/** Sends both requests at once; they are answered in order. */
export async function look(client: DaemonClient, rates: TokenRates): Promise<Snapshot> {
  const [{ processes }, metrics] = await Promise.all([
    client.request("process.list", {}),
    client.request("kernel.metrics", {}),
  ]);
  return { rows: processes, rates: rates.update(processes), metrics };
}
