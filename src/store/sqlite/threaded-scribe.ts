/**
 * Writes in a thread of its own, so that a slow disk does not stall the event loop. Pending tasks keep the process
 * alive; an idle thread does not. If the thread ends for any reason, its tasks are rejected and nothing is acknowledged
 * any more; no caller hangs.
 */
import { Worker } from "node:worker_threads";
import { type DiskReason, JournalFault } from "../fault.ts";
import type { Batch, BatchVerdict, CommitMode } from "../journal/ledger.ts";
import type { OnNotice } from "../journal/notice.ts";
import { type PackedVerdicts, packBatches, unpackVerdicts } from "../journal/packed.ts";
import type { Scribe } from "../journal/scribe.ts";
import type { ToldFault, WriterReply, WriterRequest, WriterSeed, WriterTask } from "./writer-message.ts";

/** Measured: a third of the memory of a thread without limits, and half its start time. */
const RESOURCES = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256 };

interface Pending {
  resolve(verdicts: PackedVerdicts | undefined): void;
  reject(fault: JournalFault): void;
}

export class ThreadedScribe implements Scribe {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #ended: Promise<void>;
  #lastId = 0;
  #isClosing = false;
  #lost: JournalFault | undefined;
  #onLost: (fault: JournalFault) => void = () => {};

  /** The scribe owns the worker (startWriter). */
  constructor(worker: Worker, onNotice: OnNotice) {
    this.#worker = worker;
    this.#worker.unref();
    this.#worker.on("message", (reply: WriterReply) => this.#hear(reply, onNotice));
    this.#worker.on("error", (error) => this.#lose("journal_writer_ended", error.message, error));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    this.#worker.on("exit", (code) => {
      if (!this.#isClosing || this.#pending.size > 0)
        this.#lose("journal_writer_ended", `the thread that writes has ended (${code})`);
      resolve();
    });
  }

  async commit(batches: readonly Batch[], mode: CommitMode): Promise<readonly BatchVerdict[]> {
    const verdicts = await this.#ask({ do: "commit", batches: packBatches(batches), mode });
    return verdicts === undefined ? [] : unpackVerdicts(verdicts, batches);
  }

  async saveSnapshot(proc: string, seq: number, state: string): Promise<void> {
    await this.#ask({ do: "snapshot", proc, seq, state });
  }

  async markDamaged(proc: string, seq: number): Promise<void> {
    await this.#ask({ do: "damaged", proc, seq });
  }

  onLost(listener: (fault: JournalFault) => void): void {
    this.#onLost = listener;
    if (this.#lost !== undefined) listener(this.#lost);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    try {
      if (this.#lost?.reason !== "journal_writer_ended") await this.#send({ do: "close" });
      this.#worker.ref();
    } catch (error) {
      // a thread that fails to close is terminated
      await this.#worker.terminate();
      throw error;
    }
    await this.#ended;
  }

  #ask(task: WriterTask): Promise<PackedVerdicts | undefined> {
    return this.#lost === undefined ? this.#send(task) : Promise.reject(this.#lost);
  }

  #send(task: WriterTask): Promise<PackedVerdicts | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<PackedVerdicts | undefined>();
    const id = ++this.#lastId;
    if (this.#pending.size === 0) this.#worker.ref();
    this.#pending.set(id, { resolve, reject });
    this.#worker.postMessage({ ...task, id } satisfies WriterRequest);
    return promise;
  }

  #hear(reply: WriterReply, onNotice: OnNotice): void {
    if (reply.is === "notice") onNotice(reply.notice);
    else if (reply.is === "lost") this.#lose(reply.fault.reason, reply.fault.what);
    else this.#settle(reply);
  }

  #settle(reply: Extract<WriterReply, { id: number }>): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (reply.is === "done") pending?.resolve(reply.verdicts);
    else pending?.reject(this.#keepLost(faultOf(reply.fault)));
  }

  /** Remembers a lost fault: after it no task is sent any more. */
  #keepLost(fault: JournalFault): JournalFault {
    if (fault.isLost) this.#lost ??= fault;
    return fault;
  }

  /** Marks the journal as lost; if the thread has ended, rejects all pending tasks. */
  #lose(reason: DiskReason, what: string, cause?: unknown): void {
    const fault = new JournalFault(reason, what, { cause });
    this.#lost ??= fault;
    if (reason === "journal_writer_ended") {
      this.#lost = fault;
      for (const { reject } of this.#pending.values()) reject(fault);
      this.#pending.clear();
    }
    this.#onLost(this.#lost);
  }
}

function faultOf({ reason, what, room }: ToldFault): JournalFault {
  return new JournalFault(reason, what, room === undefined ? {} : { room });
}

/**
 * The thread's file is beside this source file, or beside the bundle in a build (scripts/build.mjs). Of the environment it
 * gets only where Node keeps compiled code.
 */
export function startWriter(workerData: WriterSeed): Worker {
  const { NODE_COMPILE_CACHE } = process.env;
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  const name = import.meta.url.endsWith(".ts") ? "./writer-thread.ts" : "./writer-thread.js";
  const url = new URL(name, import.meta.url);
  return new Worker(url, { workerData, name: "journal", resourceLimits: RESOURCES, execArgv: [], env });
}
