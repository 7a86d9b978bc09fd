/** In the place of store/sqlite/open-journal.ts: a daemon that keeps nothing, to compare with. */
import type { Journal } from "../../src/kernel/ports/journal.ts";
import { MemoryDisk, openMemoryJournal } from "../../src/store/journal/testing/memory.ts";
import * as onDisk from "../../src/store/sqlite/open-journal.ts";

/** The rest of the module. */
export const { highestOf, tellMissing } = onDisk;

/** Beside it lies an empty one, for whoever looks at the file. */
export async function openJournal(options: onDisk.JournalOptions): Promise<Journal> {
  await (await onDisk.openJournal(options)).close();
  return openMemoryJournal(new MemoryDisk());
}
