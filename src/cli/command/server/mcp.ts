import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { mountTable } from "../../screen/table/mount-table.ts";

const USAGE = "crux mcp list";

/** The verbs of other agents. */
const WAYS: Readonly<Record<string, string>> = {
  add: "crux mount <name> -- <command> [args…], or crux mount <name> --url <url>",
  remove: "crux umount <name>",
  get: "crux mcp list --json",
};

/** Lists the mounts and their state; without a verb prints its help. */
export const mcp: Command = { flags: {}, run };

async function run(call: Call): Promise<number> {
  const [verb, ...more] = call.args.words;
  if (verb === undefined) {
    const { help } = await import("../itself/help.ts");
    return help.run({ ...call, args: { ...call.args, words: ["mcp"] } });
  }
  const unknown = verb === "list" ? more[0] : verb;
  if (unknown !== undefined) throw invalid(`unknown argument: ${unknown}`, WAYS[unknown] ?? USAGE);
  return list(call);
}

async function list({ console, host }: Call): Promise<number> {
  const client = await host.daemon.ensure();
  const { mounts } = await client.request("mcp.list", {});
  client.close();
  switch (console.mode) {
    case "json":
      await console.data({ mounts });
      break;
    case "quiet":
      if (mounts.length > 0) await console.line(mounts.map(({ path }) => path).join("\n"));
      break;
    case "verbose":
    case "default":
      await console.line(mountTable(mounts, console.room));
  }
  return 0;
}
