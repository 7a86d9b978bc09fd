import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { contextLines } from "../../screen/context-lines.ts";

/** What the model sees of a process, and what it costs. */
export const context: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux context <pid>");
  const client = await host.daemon.ensure();
  const found = await client.request("context.stat", { pid });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") await console.line(`${found.used} ${found.window}`);
  else await console.line(contextLines(found, console).join("\n"));
  return 0;
}
