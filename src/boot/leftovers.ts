/** Removes what a killed daemon left: OS processes, half-written files, folders. */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Effect } from "../abi/effects.ts";
import { messageOf } from "../abi/errors.ts";
import { agedBefore } from "../daemon/age-check.ts";
import type { BootContext } from "../daemon/boot-context.ts";
import { mendFile } from "../dev/fs/mend.ts";
import { sweepTemp } from "../dev/fs/temp-file.ts";
import { sweepOrphans } from "../dev/host/orphans.ts";
import { Sandboxes } from "../dev/host/sandbox/sandbox.ts";
import { keptBefore } from "../history/fork/kept-files.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import type { Lease } from "../store/lease.ts";
import type { OpenJournal } from "./journal.ts";

const SCRATCH_KEPT_MS = 7 * 24 * 3600 * 1000;

type Log = BootContext<Lease>["log"];

/** Must run before anything starts. */
export async function clearLeftovers(
  { paths, log, isSafeMode }: BootContext<Lease>,
  { journal, isWritable }: OpenJournal,
): Promise<void> {
  const { kernelId, epoch } = journal;
  const ended = await sweepOrphans({ kernelId, epoch, stateDir: paths.stateDir });
  if (ended > 0) log("warn", `ended ${ended} OS processes that the last daemon left`);
  if (!isWritable) return;
  for (const intent of isSafeMode ? [] : await journal.openCalls()) {
    const { effects = [] } = intent.body as { effects?: readonly Effect[] };
    if (effects.some(({ kind }) => kind === "write")) await mend(journal, intent, log);
    for (const effect of effects) if (effect.kind === "write") await sweep(effect.real ?? effect.path, log);
  }
  for (const name of ["tmp", "pipes"]) rmSync(join(paths.stateDir, name), { recursive: true, force: true });
  mkdirSync(join(paths.stateDir, "tmp"), { recursive: true, mode: 0o700 });
}

/** Restores files that the last daemon was writing in place when it died. */
async function mend(journal: Journal, intent: JournalRecord, log: Log): Promise<void> {
  try {
    for (const [path, old] of await keptBefore(journal, intent))
      if (await mendFile(path, old))
        log("warn", `${path} was half written when the last daemon died: restored`);
  } catch (error) {
    log("warn", `pid ${intent.pid}: what its last call left was not looked at: ${messageOf(error)}`);
  }
}

/** Removes temporary files beside a path. The place may be inaccessible by now; an error must not prevent the start. */
async function sweep(path: string, log: Log): Promise<void> {
  try {
    await sweepTemp(path);
  } catch (error) {
    log("warn", `left beside ${path} by the last daemon: ${messageOf(error)}`);
  }
}

/** Removes what the last daemon's sandboxes left behind. */
export function sweptSandboxes({ paths, log }: BootContext<Lease>, { isWritable }: OpenJournal): Sandboxes {
  const dir = join(paths.runtimeDir, "sandbox");
  rmSync(dir, { recursive: true, force: true });
  const sandboxes = new Sandboxes({ dir, ledgerDir: join(paths.stateDir, "sandbox") });
  const swept = isWritable ? sandboxes.sweep() : 0;
  if (swept > 0) log("warn", `removed ${swept} placeholders that sandboxes of the last daemon left`);
  return sandboxes;
}

/**
 * Removes the folders of ended processes: outputs at once; scratch folders after a week, so that the user can read
 * them; the scratchpads of sessions at once. Folders are named after their process, or their session's first one; those of
 * `back` are kept.
 */
export function clearFolders(stateDir: string, back: ReadonlySet<string>, now: number): void {
  const oldest = agedBefore(join(stateDir, "scratch-checked"), now, SCRATCH_KEPT_MS);
  for (const [folder, before] of [
    ["outputs", Number.POSITIVE_INFINITY],
    ["scratchpads", Number.POSITIVE_INFINITY],
    ["scratch", oldest],
  ] as const) {
    for (const name of readdirSync(join(stateDir, folder))) {
      const path = join(stateDir, folder, name);
      if (!back.has(name) && statSync(path).mtimeMs < before) rmSync(path, { recursive: true, force: true });
    }
  }
}
