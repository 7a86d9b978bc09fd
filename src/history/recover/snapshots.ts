/**
 * Makes snapshots of histories, so that long ones are read quickly: about every thousand records, and when a process
 * comes to rest. Each is made by reading the previous one and the records after it; no fold is kept in memory. A failed
 * snapshot is skipped; an error in the history is reported when the history is read.
 */
import { messageOf } from "../../abi/errors.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { readHistory } from "./history-reader.ts";

/** The number of new records after which a snapshot is due: while a process works, and when it comes to rest. */
const DUE = 1_000;
const DUE_AT_REST = 256;
/** The number of notes of a process between two checks of the length of its history. */
const NOTES_A_LOOK = 64;

interface Saved {
  /** The seq of the newest record in a snapshot. */
  seq: number;
  notes: number;
  isUnderWay: boolean;
}

type Ports = Pick<KernelPorts, "journal" | "log">;

export class Snapshots {
  readonly #ports: Ports;
  readonly #saved = new WeakMap<Process, Saved>();
  /** One snapshot at a time: no caller waits for them. */
  readonly #semaphore = new Semaphore(1);

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The process has written a note. */
  noted(proc: Process): void {
    if (proc.seed.kind !== "agent") return;
    const saved = this.#of(proc);
    if (++saved.notes % NOTES_A_LOOK === 0) this.#look(proc, saved, DUE);
  }

  /** The process is paused, has ended, or leaves memory. */
  rests(proc: Process): void {
    if (proc.seed.kind === "agent") this.#look(proc, this.#of(proc), DUE_AT_REST);
  }

  #of(proc: Process): Saved {
    const saved = this.#saved.get(proc) ?? { seq: 0, notes: 0, isUnderWay: false };
    this.#saved.set(proc, saved);
    return saved;
  }

  #look(proc: Process, saved: Saved, due: number): void {
    if (saved.isUnderWay) return;
    saved.isUnderWay = true;
    this.#semaphore
      .pass(() => this.#save(proc, saved, due))
      .catch((error: unknown) => {
        this.#ports.log("info", `pid ${proc.pid}: no snapshot was made: ${messageOf(error)}`);
      })
      .finally(() => {
        saved.isUnderWay = false;
      });
  }

  async #save({ seed: { uuid } }: Process, saved: Saved, due: number): Promise<void> {
    const { journal } = this.#ports;
    const row = await journal.row(uuid);
    if (row === undefined || row.lastSeq - saved.seq < due) return;
    const history = await readHistory(journal, uuid);
    await journal.saveSnapshot(uuid, history.lastSeq, history.state);
    saved.seq = history.lastSeq;
  }
}
