import { Fault } from "../../../abi/errors.ts";
import type { Call } from "../../command.ts";
import type { DaemonAccess } from "../../daemon/client.ts";

/** The processes of the daemon have 10 s to end; then the journal is closed. */
const STOP_MS = 15_000;
/** With --force, how long a daemon may take to answer at all. */
const FORCE_AFTER_MS = 5000;

/** Stops the daemon and waits until it is gone; returns the line that reports it. */
export async function stopDaemon({ args, host }: Pick<Call, "args" | "host">): Promise<string> {
  const { daemon } = host;
  try {
    const limit = args.flags.has("force") ? AbortSignal.timeout(FORCE_AFTER_MS) : undefined;
    if (!(await ask(daemon, limit))) return "[daemon] not running";
    await daemon.gone(AbortSignal.timeout(STOP_MS));
    return "[daemon] stopped";
  } catch (error) {
    if (!args.flags.has("force")) throw withHint(error);
  }
  return (await daemon.force(AbortSignal.timeout(STOP_MS))) ? "[daemon] stopped" : "[daemon] not running";
}

/**
 * False: no daemon runs. A daemon that another client is already stopping closes the connection, which counts as asked.
 */
async function ask(daemon: DaemonAccess, limit: AbortSignal | undefined): Promise<boolean> {
  try {
    const client = await daemon.find(limit);
    if (client === undefined) return false;
    await client.request("shutdown", {}, limit);
    client.close();
  } catch (error) {
    if (!(error instanceof Fault && error.fact?.kind === "stopping")) throw error;
  }
  return true;
}

function withHint(error: unknown): unknown {
  if (!(error instanceof Error) || (error.name !== "TimeoutError" && error.name !== "AbortError"))
    return error;
  return new Fault({
    code: "TIMEOUT",
    message: `daemon did not stop within ${STOP_MS / 1000}s`,
    hint: "crux daemon stop --force",
    cause: error,
  });
}
