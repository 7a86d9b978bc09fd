import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { sessionTable } from "../../screen/table/session-table.ts";
import { indented } from "../../screen/text/json.ts";

/** The sessions of this folder that have not ended; with --all those of every folder, including ended ones. */
export const sessions: Command = { flags: { all: { type: "boolean", short: "a" } }, run };

const MORE =
  "[sessions] of those that have ended the newest 1,000 are shown; crux -r <pid> opens an older one";

async function run({ args, console, host }: Call): Promise<number> {
  noWords(args, "crux sessions [-a]");
  const all = args.flags.has("all");
  const client = await host.daemon.ensure();
  const { sessions: found, more } = await client.request("session.list", all ? { all } : { cwd: host.cwd });
  client.close();
  switch (console.mode) {
    case "json":
      await console.line(
        indented({ ok: true, data: { sessions: found, ...(more === true ? { more } : {}) } }),
      );
      break;
    case "quiet":
      if (found.length > 0) await console.line(found.map(({ pid }) => pid).join("\n"));
      break;
    case "verbose":
    case "default":
      if (more === true) await console.errorLine(MORE);
      if (found.length > 0)
        await console.line(sessionTable(found, { now: Date.now(), withFolder: all, room: console.room }));
      else await console.line(all ? "No sessions." : "No sessions in this folder.");
  }
  return 0;
}
