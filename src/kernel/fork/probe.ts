/**
 * A call that changes files, and has no result because the daemon died: whether it was done is seen by looking at the files,
 * for what they were and were to be is on record before they are touched.
 */
import type { Core } from "../core.ts";
import type { JournalRecord } from "../ports/journal.ts";
import { HostFiles } from "./host-files.ts";
import type { EntryWord, SnapshotBody } from "./snapshot.ts";

export type ProbeOutcome = "done" | "not_done" | "unknown";

/** `now`: what lies at each path. Done: every file is what it was to be; not done: what it was; else unknown. */
export function probeOutcome(
  changes: readonly SnapshotBody[],
  now: ReadonlyMap<string, EntryWord>,
): ProbeOutcome {
  const paths = [...Map.groupBy(changes, ({ path }) => path)];
  const isAll = (is: (change: { before: EntryWord; after: EntryWord }, word: EntryWord) => boolean) =>
    paths.every(([path, of]) => {
      const [before, after] = [of[0]?.before ?? "other", of.at(-1)?.after ?? "other"];
      return before !== after && is({ before, after }, now.get(path) ?? "other");
    });
  if (isAll(({ before }, word) => isSure(word) && word === before)) return "not_done";
  return isAll(({ after }, word) => isSure(word) && word === after) ? "done" : "unknown";
}

/** Two looks at what could not be looked into say nothing. */
function isSure(word: EntryWord): boolean {
  return word !== "other" && word !== "unsaved";
}

/** Of an intent of class `probe` in a history that nobody writes now. */
export async function probeCall(core: Core, intent: JournalRecord): Promise<ProbeOutcome> {
  const changes: SnapshotBody[] = [];
  for (let from = intent.seq + 1; ; ) {
    const page = await core.ports.journal.read(intent.proc, from, 256);
    for (const { kind, call, body } of page)
      if (kind === "snapshot" && call === intent.call) changes.push(body as SnapshotBody);
    const last = page.at(-1);
    if (last === undefined) break;
    from = last.seq + 1;
  }
  const files = new HostFiles(core, core.handle(core.root, null));
  const now = new Map<string, EntryWord>();
  for (const { path } of changes) if (!now.has(path)) now.set(path, (await files.look(path)).word);
  return probeOutcome(changes, now);
}
