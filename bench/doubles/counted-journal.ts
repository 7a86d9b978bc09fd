/** In the place of store/sqlite/open-journal.ts: the journal itself, which says at its end what it was asked to write. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Journal } from "../../src/kernel/ports/journal.ts";
import * as onDisk from "../../src/store/sqlite/open-journal.ts";
import { startWriter, ThreadedScribe } from "../../src/store/sqlite/threaded-scribe.ts";

/** Of one journal, from its opening to its end; `bytes` by kind are those of the bodies. */
export interface Counted {
  groups: number;
  records: number;
  readonly bytes: Record<string, number>;
}

export const COUNTED = "counted.json";

/** The rest of the module. */
export const { highestOf, tellMissing } = onDisk;

export async function openJournal(options: onDisk.JournalOptions): Promise<Journal> {
  const counted: Counted = { groups: 0, records: 0, bytes: {} };
  return onDisk.openJournal(options, (seed, onNotice) => {
    const scribe = new ThreadedScribe(startWriter(seed), onNotice);
    const [commit, close] = [scribe.commit.bind(scribe), scribe.close.bind(scribe)];
    scribe.commit = (batches, mode) => {
      counted.groups++;
      for (const { kind, body } of batches.flatMap(({ entries }) => entries)) {
        counted.records++;
        counted.bytes[kind] = (counted.bytes[kind] ?? 0) + Buffer.byteLength(body);
      }
      return commit(batches, mode);
    };
    scribe.close = async () => {
      await close();
      writeFileSync(join(options.dir, COUNTED), JSON.stringify(counted));
    };
    return scribe;
  });
}
