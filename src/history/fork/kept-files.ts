/** The old contents of files changed by a call without a result, which the last daemon may have left half done. */
import { codeOf } from "../../abi/errors.ts";
import type { Journal, JournalRecord } from "../../kernel/ports/journal.ts";
import type { SnapshotBody } from "./snapshot.ts";

/** Pages read after an intent; the snapshots of its call follow it closely. */
const MAX_PAGES = 8;
const PAGE = 256;

/** The changes of an intent's call, in order. Empty: none, or more than `MAX_PAGES` of records follow the intent. */
export async function changesOf(
  journal: Pick<Journal, "read">,
  intent: JournalRecord,
): Promise<SnapshotBody[]> {
  const changes: SnapshotBody[] = [];
  let from = intent.seq + 1;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await journal.read(intent.proc, from, PAGE);
    for (const { kind, call, body } of page)
      if (kind === "snapshot" && call === intent.call) changes.push(body as SnapshotBody);
    const last = page.at(-1);
    if (last === undefined) return changes;
    from = last.seq + 1;
  }
  return [];
}

/** The newest old content of each path that the call was to change, where it is kept. */
export async function keptBefore(
  journal: Pick<Journal, "read" | "getBlob">,
  intent: JournalRecord,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const kept = new Map<string, Uint8Array>();
  for (const { path, blob } of await changesOf(journal, intent)) {
    kept.delete(path);
    const bytes = blob === undefined ? null : await findBlob(journal, blob);
    if (bytes !== null) kept.set(path, bytes);
  }
  return kept;
}

async function findBlob(journal: Pick<Journal, "getBlob">, digest: string): Promise<Uint8Array | null> {
  try {
    return await journal.getBlob(digest);
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return null;
    throw error;
  }
}
