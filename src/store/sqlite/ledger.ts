/** The ledger on SQLite: it answers reads itself; writes go to a scribe, in this thread or in one of its own. */

import type { JournalFault } from "../fault.ts";
import { BlobStore } from "../journal/blobs.ts";
import type { Blob } from "../journal/body.ts";
import type { Batch, BatchVerdict, CommitMode, Ledger } from "../journal/ledger.ts";
import type { Scribe } from "../journal/scribe.ts";
import { databasePath } from "./open-database.ts";
import type { SqliteReader } from "./reader.ts";
import type { Identity } from "./writer.ts";

export class SqliteLedger implements Ledger {
  readonly epoch: number;
  readonly kernelId: string;
  readonly path: string;
  readonly highest: Ledger["highest"];
  readonly acknowledgedLsn: number;
  readonly reader: SqliteReader;
  readonly #scribe: Scribe;
  readonly #blobs: BlobStore;

  constructor(
    dir: string,
    identity: Identity & Pick<Ledger, "highest" | "acknowledgedLsn">,
    { reader, scribe }: { readonly reader: SqliteReader; readonly scribe: Scribe },
  ) {
    this.epoch = identity.epoch;
    this.kernelId = identity.kernelId;
    this.highest = identity.highest;
    this.acknowledgedLsn = identity.acknowledgedLsn;
    this.path = databasePath(dir);
    this.reader = reader;
    this.#scribe = scribe;
    this.#blobs = new BlobStore(dir);
  }

  commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    return this.#scribe.commit(batches, mode);
  }

  saveSnapshot(proc: string, seq: number, state: string): Promise<void> {
    return this.#scribe.saveSnapshot(proc, seq, state);
  }

  markDamaged(proc: string, seq: number): Promise<void> {
    return this.#scribe.markDamaged(proc, seq);
  }

  putBlob(blob: Blob): Promise<void> {
    return this.#blobs.put(blob);
  }

  getBlob(digest: string): Promise<Uint8Array> {
    return this.#blobs.get(digest);
  }

  onLost(listener: (fault: JournalFault) => void): void {
    this.#scribe.onLost(listener);
  }

  async close(): Promise<void> {
    try {
      // the reader is closed last: the last connection to close empties the write-ahead log
      await this.#scribe.close();
    } finally {
      this.reader.close();
    }
  }
}
