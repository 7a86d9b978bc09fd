import type { Result } from "../../../abi/methods/methods.ts";
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

export const groups: Command = { flags: {}, run };

type Group = Result<"group.list">["groups"][number];

async function run({ args, console, host }: Call): Promise<number> {
  noWords(args, "crux groups");
  const client = await host.daemon.ensure();
  const { groups } = await client.request("group.list", {});
  client.close();
  if (console.mode === "json") await console.data({ groups });
  else if (groups.length > 0)
    await console.line(groups.map((group) => shown(group, console.mode)).join("\n"));
  else if (console.isScreen) await console.line("No groups.");
  return 0;
}

function shown(group: Group, mode: Call["console"]["mode"]): string {
  const name = nameOf(group);
  if (mode === "quiet") return name;
  const label = mode === "verbose" ? `${name} (group ${group.id})` : name;
  return `${label}: ${group.pids.join(" ")}`;
}

/** The name or number of a group, as `crux signal` accepts it. */
function nameOf({ id, name }: Group): string {
  return name === "" ? String(id) : safeLine(name);
}
