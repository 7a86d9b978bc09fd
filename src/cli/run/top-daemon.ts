/** What `crux top` and the view of it in the terminal ask of the daemon. */
import { messageOf } from "../../abi/errors.ts";
import { SIGNALS, signalName } from "../../abi/process.ts";
import type { DaemonClient } from "../daemon/client.ts";
import { allProcesses } from "../daemon/processes.ts";
import type { Snapshot } from "../screen/top/rows.ts";
import type { TokenRates } from "../screen/top/token-rates.ts";
import type { TopAction } from "../screen/top/view.ts";
import { clientEnvironment } from "./environment.ts";

/** A snapshot of a large table loads the daemon; it may take this share of the daemon's time. */
const LOOK_SHARE = 0.1;

/** Sends the first page and the metrics at once; requests are answered in order. */
export async function look(client: DaemonClient, rates: TokenRates): Promise<Snapshot> {
  const [processes, metrics] = await Promise.all([
    allProcesses(client, "process.list"),
    client.request("kernel.metrics", {}),
  ]);
  return { rows: processes, rates: rates.update(processes), metrics };
}

/** How long to wait after a look that took so long, in ms. */
export function untilNextLook(delayMs: number, tookMs: number): number {
  return Math.max(delayMs, tookMs / LOOK_SHARE);
}

/** Resolves with what became of it, or why it was refused. `env`: of this command. */
export async function carryOut(
  client: DaemonClient,
  action: Extract<TopAction, { kind: "signal" | "budget" }>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { pid } = action;
  try {
    if (action.kind === "budget") {
      await client.request("budget.set", { pid, set: { usd: action.usd } });
      return `PID ${pid}: at most $${action.usd} with all below it`;
    }
    const { signal } = action;
    const own = signal === SIGNALS.SIGRESUME ? { env: clientEnvironment(env) } : {};
    const { pids } = await client.request("process.signal", { pid, signal, ...own });
    const said = pids.length === 0 ? "it has ended" : `signal sent (${signalName(signal)})`;
    return `PID ${pid}: ${said}`;
  } catch (error) {
    return messageOf(error);
  }
}
