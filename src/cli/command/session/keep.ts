import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";

/** Keeps the history of a process, however old it gets. */
export const keep: Command = { flags: { off: { type: "boolean" } }, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux keep <pid> [--off]");
  const kept = !args.flags.has("off");
  const client = await host.daemon.ensure();
  await client.request("session.describe", { pid, kept });
  client.close();
  if (console.mode === "json") await console.data({ pid, kept });
  else if (console.isScreen) await console.line(`[kernel] PID ${pid}: ${kept ? "kept" : "kept no longer"}`);
  return 0;
}
