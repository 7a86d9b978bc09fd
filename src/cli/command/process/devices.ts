/** `crux devices`: the devices of the machine, and who holds them. */
import type { IpcResult } from "../../../abi/methods/ipc/methods.ts";
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

export const devices: Command = { flags: {}, run };

type Device = IpcResult<"device.list">[number];

async function run({ args, console, host }: Call): Promise<number> {
  noWords(args, "crux devices");
  const kernel = await host.daemon.kernel();
  const found = await kernel.call("device.list", {});
  kernel.close();
  if (console.mode === "json") await console.data({ devices: found });
  else await console.line(found.map((device) => shown(device, console.mode)).join("\n"));
  return 0;
}

function shown({ path, kind, modes, state, claim }: Device, mode: Call["console"]["mode"]): string {
  if (mode === "quiet") return safeLine(path);
  const held =
    claim === null
      ? state
      : `${state} by ${claim.pid === 0 ? "you" : `process ${claim.pid}`} (${claim.mode})`;
  return `${safeLine(path).padEnd(32)} ${kind.padEnd(8)} ${modes.join(",").padEnd(18)} ${held}`;
}
