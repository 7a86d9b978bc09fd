import { onePid } from "../../args.ts";
import { latestHere } from "../../chat/ref.ts";
import type { Call, Command } from "../../command.ts";
import { rewindBy } from "./rewind-request.ts";

const USAGE = "crux undo [pid] [--dry-run] [--force] [--yes]";

/** Restores the files changed since the last message; the process itself continues unchanged. */
export const undo: Command = {
  flags: {
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  run,
};

async function run(call: Call): Promise<number> {
  const { args, host } = call;
  const pid = args.words.length === 0 ? await latestHere(call, host.cwd) : onePid(args, USAGE);
  const force = args.flags.has("force") ? { force: true } : {};
  const isAsked = !args.flags.has("yes");
  const consent = { isDryRun: args.flags.has("dry-run"), isAsked, what: "undo" };
  return rewindBy(call, { pid, files: true, fork: false, ...force }, consent);
}
