import { Fault } from "../abi/errors.ts";
import type { Call } from "./command.ts";

/** Its processes have 10 s to end; then the journal is closed. */
const STOP_MS = 15_000;
/** With --force, how long a daemon may take to answer at all. */
const FORCE_AFTER_MS = 5000;

/** Stops the daemon and waits until it is gone; the line that says so. */
export async function stopDaemon({ args, host }: Pick<Call, "args" | "host">): Promise<string> {
  const { daemon } = host;
  try {
    const limit = args.flags.has("force") ? AbortSignal.timeout(FORCE_AFTER_MS) : undefined;
    const client = await daemon.find(limit);
    if (client === undefined) return "[daemon] not running";
    await client.request("shutdown", {}, limit);
    client.close();
    await daemon.gone(AbortSignal.timeout(STOP_MS));
    return "[daemon] stopped";
  } catch (error) {
    if (!args.flags.has("force")) throw withHint(error);
  }
  return (await daemon.force(AbortSignal.timeout(STOP_MS))) ? "[daemon] stopped" : "[daemon] not running";
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
