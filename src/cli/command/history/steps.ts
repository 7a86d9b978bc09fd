import { countFlag, onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { stepsTable } from "../../screen/table/steps-table.ts";

/** The steps of an agent: the points to which a fork or a rewind can go. */
export const steps: Command = { flags: { last: { type: "string", short: "n" } }, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux steps <pid> [-n <count>]");
  const last = countFlag(args, "last");
  const client = await host.daemon.ensure();
  const found = await client.request("process.steps", { pid, ...(last === 0 ? {} : { last }) });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (console.mode !== "quiet") await console.line(stepsTable(found.steps, host.cwd, console.room));
  else if (found.steps.length > 0) await console.line(found.steps.map(({ step }) => step).join("\n"));
  return 0;
}
