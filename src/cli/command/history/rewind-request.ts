/** Requests a rewind: first the plan, then the user's confirmation, then the rewind itself; and shows the outcome. */
import { Fault } from "../../../abi/errors.ts";
import type { Params, Result } from "../../../abi/methods/methods.ts";
import type { Call } from "../../command.ts";
import { confirm } from "../../dialog/rewind-confirm.ts";
import { invalid } from "../../screen/errors.ts";
import { rewindLines } from "../../screen/rewind-lines.ts";

type Request = Params<"process.rewind">;
type Done = Result<"process.rewind">;

interface Consent {
  readonly isDryRun: boolean;
  /** Files would change, and the user has not agreed yet. */
  readonly isAsked: boolean;
  /** The name of what changes files: `--files`, `undo`. */
  readonly what: string;
}

export async function rewindBy(call: Call, request: Request, consent: Consent): Promise<number> {
  if (consent.isDryRun) return tell(call, await ask(call, { ...request, dry_run: true }), true);
  if (consent.isAsked) {
    const planned = await ask(call, { ...request, dry_run: true });
    if (planned.refused) return tell(call, planned);
    if (!(await isWanted(call, planned, consent.what))) return 1;
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

/** Only a user at a terminal is asked. */
async function isWanted(call: Call, planned: Done, what: string): Promise<boolean> {
  const changed = planned.files.filter(({ deed }) => deed !== "unchanged" && deed !== "kept");
  if (changed.length === 0) return true;
  const { console, host } = call;
  if (!console.isScreen || host.stdin.isTTY !== true || host.stdout.isTTY !== true)
    throw invalid(
      `${what} changes files: that is to be confirmed`,
      "--yes does; --dry-run shows what would change",
    );
  await console.line(rewindLines(planned, host.cwd).join("\n"));
  return confirm(call, changed.length === 1 ? "Put 1 file back?" : `Put ${changed.length} files back?`);
}

/** Returns 1 if not every file is as it was at that step. */
async function tell({ console, host }: Call, done: Done, isDryRun = false): Promise<number> {
  const { fork, refused } = done;
  const isIncomplete = refused || (!isDryRun && keptIn(done).length > 0);
  if (console.mode === "json") await console.data(done);
  else if (console.mode === "quiet") {
    if (fork !== null) await console.line(String(fork.pid));
  } else {
    const lines = rewindLines(done, host.cwd);
    if (lines.length > 0) await console.line(lines.join("\n"));
  }
  if (isIncomplete && console.mode !== "json") throw refused ? refusal(done) : incomplete(done);
  return isIncomplete ? 1 : 0;
}

function keptIn({ files }: Done): readonly Done["files"][number][] {
  return files.filter(({ deed }) => deed === "kept");
}

function incomplete(done: Done): Fault {
  const kept = keptIn(done).map(({ path, reason }) => `${path} (${reason})`);
  const message = `not put back: ${kept.join(", ")}`;
  return new Fault({ code: "CONFLICT", message, hint: "the other files are as they were then" });
}

function refusal({ conflicts }: Done): Fault {
  return new Fault({
    code: "CONFLICT",
    message: `changed by somebody else since, nothing was touched: ${conflicts.join(", ")}`,
    hint: "--force puts them back all the same; what is there now is kept and can be had back",
  });
}
