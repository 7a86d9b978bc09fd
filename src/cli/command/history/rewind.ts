import type { Params } from "../../../abi/methods/methods.ts";
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { placeFlag } from "./place-flag.ts";
import { rewindBy } from "./rewind-request.ts";

const USAGE = "crux rewind <pid> [--at <step>] [--files [--dry-run] [--force] [--yes]]";

/** Forks the process at an earlier step; --files also restores the files the agent has changed since. */
export const rewind: Command = {
  flags: {
    at: { type: "string" },
    files: { type: "boolean" },
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  run,
};

type Request = Params<"process.rewind">;

async function run(call: Call): Promise<number> {
  const { args } = call;
  const has = (name: string): boolean => args.flags.has(name);
  const pid = onePid(args, USAGE);
  const isFiles = has("files");
  for (const name of ["force", "dry-run"])
    if (has(name) && !isFiles) throw invalid(`--${name} goes with --files`, USAGE);
  const request: Request = {
    pid,
    ...placeFlag(args, USAGE),
    ...(isFiles ? { files: true } : {}),
    ...(has("force") ? { force: true } : {}),
  };
  const isAsked = isFiles && !has("yes");
  return rewindBy(call, request, { isDryRun: has("dry-run"), isAsked, what: "--files" });
}
