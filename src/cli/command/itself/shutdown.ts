import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { daemon } from "./daemon.ts";

/** Another name of `crux daemon stop`. */
export const shutdown: Command = { flags: { force: { type: "boolean" } }, run };

async function run(call: Call): Promise<number> {
  noWords(call.args, "crux shutdown [--force]");
  return daemon.run({ ...call, args: { ...call.args, words: ["stop"] } });
}
