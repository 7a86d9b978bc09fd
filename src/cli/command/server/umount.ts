import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { mountPath } from "./mount-path.ts";

const USAGE = "crux umount <name|path>";

export const umount: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [name, ...more] = args.words;
  if (name === undefined) throw invalid("a name or a path is missing", USAGE);
  if (more.length > 0) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const path = mountPath(name);
  const client = await host.daemon.ensure();
  await client.request("mcp.unmount", { path });
  client.close();
  if (console.mode === "json") await console.data({ path });
  else if (console.mode !== "quiet") await console.line(`[kernel] ${path}: unmounted`);
  return 0;
}
