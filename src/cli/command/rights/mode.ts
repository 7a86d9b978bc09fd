import { findPermissionMode, PERMISSION_MODES } from "../../../abi/process.ts";
import { pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";

const USAGE = "crux mode <pid> [<mode>]";

/** The permission mode of a process: shown, or set by the user. */
export const mode: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [word, wanted, ...more] = args.words;
  const pid = pidOf(word, USAGE);
  if (more.length > 0) throw invalid(`one mode at a time: ${wanted} ${more.join(" ")}`, USAGE);
  const found = wanted === undefined ? undefined : findPermissionMode(wanted);
  if (wanted !== undefined && found === undefined)
    throw invalid(`unknown permission mode: ${wanted}`, `modes: ${PERMISSION_MODES.join(", ")}`);
  const client = await host.daemon.ensure();
  const now = await client.request("process.mode", { pid, ...(found === undefined ? {} : { mode: found }) });
  client.close();
  if (console.mode === "json") await console.data({ pid, ...now });
  else if (console.mode === "quiet") await console.line(now.mode);
  else await console.line(`[kernel] PID ${pid}: ${now.mode} mode (may ask for up to ${now.ceiling})`);
  return 0;
}
