/** The end of a compose project that the journal alone knows. */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { CrashReport } from "../../abi/supervise.ts";
import { endOf as endOfProcess } from "../../history/recover/ended.ts";
import type { Core } from "../../kernel/core.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { ProjectFeed } from "./feed.ts";
import { endOf } from "./view.ts";

const PAGE = 256;

/** With its end in it. undefined: it has not ended, or its history is gone. */
export async function endedFeed(core: Core, name: string, pid: Pid): Promise<ProjectFeed | undefined> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  const ended = await endOfProcess(core, pid);
  if (row === undefined || ended === undefined) return undefined;
  const { exit, elapsedMs } = ended;
  const feed = new ProjectFeed();
  const code = await firstFailure(journal, row.proc);
  feed.publish(endOf(name, exit, { code, tokens: row.limitUsed, elapsedMs }));
  feed.end();
  return feed;
}

/** The code of the first service that failed for good; 0 none. */
async function firstFailure(journal: Journal, proc: ProcUuid): Promise<number> {
  for (let from = 1; ; from += PAGE) {
    const page = await journal.read(proc, from, PAGE);
    const crashes = page
      .filter(({ kind }) => kind === "supervisor.crash")
      .map(({ body }) => body as CrashReport);
    const failed = crashes.find(({ exit, decision }) => exit.code !== 0 && FINAL.has(decision));
    if (failed !== undefined || page.length === 0) return failed?.exit.code ?? 0;
  }
}

const FINAL: ReadonlySet<CrashReport["decision"]> = new Set(["drop", "escalate"]);
