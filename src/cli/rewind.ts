import { Fault } from "../abi/errors.ts";
import type { Params, Result } from "../abi/methods.ts";
import { onePid } from "./args.ts";
import type { Call, Command } from "./command.ts";
import { placeFlag } from "./place-flag.ts";
import { confirm } from "./rewind-confirm.ts";
import { invalid } from "./screen/errors.ts";
import { rewindLines } from "./screen/rewind-lines.ts";

const USAGE = "crux rewind <pid> [--at <step>] [--files [--dry-run] [--force] [--yes]]";

/** Back to a step: a fork there, and with --files what the agent has changed since put back. */
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
type Done = Result<"process.rewind">;

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
  if (has("dry-run")) return tell(call, await ask(call, { ...request, dry_run: true }));
  if (isFiles && !has("yes")) {
    const planned = await ask(call, { ...request, dry_run: true });
    if (planned.refused) return tell(call, planned);
    if (!(await isWanted(call, planned))) return 1;
  }
  return tell(call, await ask(call, request));
}

async function ask({ host }: Call, request: Request): Promise<Done> {
  const client = await host.daemon.ensure();
  try {
    return await client.request("process.rewind", request);
  } finally {
    client.close();
  }
}

/** Only a person at a terminal is asked. */
async function isWanted(call: Call, planned: Done): Promise<boolean> {
  const changed = planned.files.filter(({ deed }) => deed !== "unchanged" && deed !== "kept");
  if (changed.length === 0) return true;
  const { console, host } = call;
  if (!console.isScreen || host.stdin.isTTY !== true || host.stdout.isTTY !== true)
    throw invalid(
      "--files changes files: that is to be confirmed",
      "--yes does; --dry-run shows what would change",
    );
  await console.line(rewindLines(planned, host.cwd).join("\n"));
  return confirm(call, changed.length === 1 ? "Put 1 file back?" : `Put ${changed.length} files back?`);
}

/** 1: refused, nothing was touched. */
async function tell({ console, host }: Call, done: Done): Promise<number> {
  const { fork, refused } = done;
  if (console.mode === "json") await console.data(done);
  else if (console.mode === "quiet") {
    if (fork !== null) await console.line(String(fork.pid));
  } else {
    const lines = rewindLines(done, host.cwd);
    if (lines.length > 0) await console.line(lines.join("\n"));
  }
  if (refused && console.mode !== "json") throw refusal(done);
  return refused ? 1 : 0;
}

function refusal({ conflicts }: Done): Fault {
  return new Fault({
    code: "CONFLICT",
    message: `changed by somebody else since, nothing was touched: ${conflicts.join(", ")}`,
    hint: "--force puts them back all the same; what is there now is kept and can be had back",
  });
}
