/**
 * Snapshots of histories, so that a long one is soon read: every thousand records or so, and where a process comes to a rest.
 * Each is made from the one before and what followed it, as a reader would: nothing of a fold is kept in memory. A snapshot
 * that cannot be made is none; who reads the history says what is wrong with it.
 */
import { messageOf } from "../../abi/errors.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { Turnstile } from "../../kernel/process/turnstile.ts";
import { readHistory } from "./history-reader.ts";

/** Records after which one is due while a process works; and where it rests, for less is read as soon. */
const DUE = 1_000;
const DUE_AT_REST = 256;
/** What a process notes itself between two looks at how long its history is. */
const NOTES_A_LOOK = 64;

interface Saved {
  /** The newest record of which there is one. */
  seq: number;
  notes: number;
  isUnderWay: boolean;
}

type Ports = Pick<KernelPorts, "journal" | "log">;

export class Snapshots {
  readonly #ports: Ports;
  readonly #saved = new WeakMap<Process, Saved>();
  /** One at a time: nobody waits for them. */
  readonly #turnstile = new Turnstile(1);

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** It noted something. */
  noted(proc: Process): void {
    if (proc.seed.kind !== "agent") return;
    const saved = this.#of(proc);
    if (++saved.notes % NOTES_A_LOOK === 0) this.#look(proc, saved, DUE);
  }

  /** It is paused, or at its end, or leaves memory. */
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
    this.#turnstile
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
