/** A journal in memory for tests of the kernel: it keeps order and places, and refuses or waits when it is told to. */
import { Fault } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalDraft, JournalRecord, RecordKind } from "../ports/journal.ts";

export class MemoryJournal implements Journal {
  readonly epoch = 1;
  readonly kernelId = "11111111-1111-4111-8111-111111111111";
  readonly records: JournalRecord[] = [];
  /** The disk is full for these kinds. */
  readonly refused = new Set<RecordKind>();
  /** Appends wait for it. */
  gate: Promise<void> = Promise.resolve();
  #noted: JournalDraft[] = [];

  async append(drafts: readonly JournalDraft[]): Promise<readonly { lsn: number; seq: number }[]> {
    const before = this.#noted;
    this.#noted = [];
    await this.gate;
    for (const draft of before) this.#keep(draft);
    for (const { kind } of drafts) {
      if (this.refused.has(kind)) throw new Fault({ code: "UNAVAILABLE", message: "the disk is full" });
    }
    return drafts.map((draft) => this.#keep(draft));
  }

  note(drafts: readonly JournalDraft[]): void {
    this.#noted.push(...drafts);
  }

  async sync(): Promise<void> {
    await this.append([]);
  }

  /** The daemon dies: what was only noted is lost. */
  crash(): void {
    this.#noted = [];
  }

  async read(proc: ProcUuid, fromSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    return this.records.filter((r) => r.proc === proc && r.seq >= fromSeq).slice(0, limit);
  }

  async openCalls(): Promise<readonly JournalRecord[]> {
    const closed = new Set(this.records.filter((r) => CLOSES_CALL.has(r.kind)).map((r) => r.call));
    return this.records.filter((r) => r.kind === "call.intent" && !closed.has(r.call));
  }

  async unfinished(): Promise<readonly JournalRecord[]> {
    const ended = new Set(this.records.filter((r) => ENDS_PROCESS.has(r.kind)).map((r) => r.proc));
    const live = this.records.filter((r) => r.kind === "process.spawned" && !ended.has(r.proc));
    return live.sort((a, b) => a.pid - b.pid);
  }

  async lastSignals(): Promise<readonly JournalRecord[]> {
    return (await this.unfinished()).flatMap(({ proc }) => {
      return this.records.filter((r) => r.proc === proc && r.kind === "signal").slice(-1);
    });
  }

  async processOf(pid: Pid): Promise<ProcUuid | undefined> {
    return this.records.find((r) => r.pid === pid && r.kind === "process.spawned")?.proc;
  }

  highestPid(): number {
    return this.records.reduce((highest, { pid }) => Math.max(highest, pid), 0);
  }

  highestMessage(): number {
    const seqs = this.bodies("mail.put").map((body) => Number(body.seq));
    return seqs.reduce((highest, seq) => Math.max(highest, seq), 0);
  }

  health(): { ok: true } {
    return { ok: true };
  }

  async close(): Promise<void> {
    await this.sync();
  }

  /** Kinds of what was kept and noted, in order; of one process if `pid` is given. */
  kinds(pid?: number): RecordKind[] {
    return [...this.records, ...this.#noted].filter((r) => r.pid === (pid ?? r.pid)).map((r) => r.kind);
  }

  /** Bodies of what was kept and noted. */
  bodies(kind: RecordKind): Record<string, unknown>[] {
    const found = [...this.records, ...this.#noted].filter((r) => r.kind === kind);
    return found.map((r) => r.body as Record<string, unknown>);
  }

  #keep(draft: JournalDraft): { lsn: number; seq: number } {
    const lsn = this.records.length + 1;
    const seq = this.records.filter((r) => r.proc === draft.proc).length + 1;
    const body: unknown = structuredClone(draft.body);
    this.records.push({ ...draft, body, lsn, seq, epoch: this.epoch, at: 0 });
    return { lsn, seq };
  }
}

const CLOSES_CALL: ReadonlySet<RecordKind> = new Set(["call.result", "call.unknown"]);
const ENDS_PROCESS: ReadonlySet<RecordKind> = new Set(["process.exited", "process.failed"]);
