/**
 * The programs that each process has started and talks to. A record of each is kept with the process
 * (abi/native/native-record.ts), so that it is known after a restart how far its output was read. A process is told once that a
 * program has ended, by an answer or else by a note, and of a match that it asked for. Programs themselves, their limit
 * and their end belong to the kernel.
 */
import type { Caller, KeptValues } from "../../abi/device.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import { findNatives, type NativeRecord, nativeKey } from "../../abi/native/native-record.ts";
import type { Clock } from "../../abi/program.ts";
import type { Native, Natives } from "../../kernel/ports/natives.ts";
import {
  outputName,
  type PositionedReader,
  type SpoolReader,
  type SpoolStore,
} from "../../kernel/ports/spools.ts";
import { ABORTED } from "../../lib/abort.ts";
import { driverError } from "../driver-error.ts";
import { keptInMemory } from "../kept-in-memory.ts";
import { OutputPattern } from "./follow.ts";

/** Records of ended programs that are kept. */
const MAX_ENDED = 50;
const READ_BYTES = 64 * 1024;
const PAUSE_MS = 5;

export interface NativeDeps {
  readonly natives: () => Pick<Natives, "list" | "of">;
  readonly spools: Pick<SpoolStore, "find">;
  readonly clock: Pick<Clock, "sleep">;
  /** Sends a process a note. False: it was not delivered. */
  notify(pid: Pid, text: string): Promise<boolean>;
  /** An ended program that its process knows of leaves the table. */
  reap(pid: Pid): Promise<void>;
}

export class Programs {
  readonly #deps: NativeDeps;
  readonly #byProcess = new Map<ProcUuid, OwnPrograms>();

  constructor(deps: NativeDeps) {
    this.#deps = deps;
  }

  of(caller: Caller): OwnPrograms {
    const known = this.#byProcess.get(caller.uuid);
    if (known !== undefined) return known;
    const own = new OwnPrograms(this.#deps, caller);
    if (caller.signal.aborted) return own;
    this.#byProcess.set(caller.uuid, own);
    const leave = (): void => {
      own.close();
      this.#byProcess.delete(caller.uuid);
    };
    caller.signal.addEventListener("abort", leave, { once: true });
    return own;
  }
}

interface Watch {
  readonly native: Native;
  /** Answers in progress, which will tell of the end themselves. */
  waiters: number;
  /** How far the output was read when a match was noted last; -1: none was. */
  notedAt: number;
}

export class OwnPrograms {
  readonly #deps: NativeDeps;
  readonly #caller: Caller;
  readonly #kept: KeptValues;
  readonly #watched = new Map<Pid, Watch>();
  readonly #closed = new AbortController();

  constructor(deps: NativeDeps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
    this.#kept = caller.kept ?? keptInMemory();
  }

  list(): readonly NativeRecord[] {
    return findNatives(this.#kept.entries());
  }

  /** NOT_FOUND: the caller has not started it, or it is too long ago. */
  find(pid: Pid): NativeRecord {
    const record = this.#kept.get(nativeKey(pid)) as NativeRecord | undefined;
    if (record !== undefined) return record;
    throw driverError("Write", "NOT_FOUND", `process ${pid} is not a program that this process has started`);
  }

  /** undefined: it was started under an earlier daemon, or by the process that this one was forked from. */
  nativeOf({ pid, uuid }: NativeRecord): Native | undefined {
    const native = this.#deps.natives().of(pid);
    return native?.uuid === uuid && this.#isOwn(native) ? native : undefined;
  }

  #isOwn({ ppid }: Native): boolean {
    return ppid === this.#caller.pid;
  }

  /** From now on its end is told, and with `tell` a match in its output. NOT_FOUND; INVALID: not a pattern. */
  watch(pid: Pid, tell: string | undefined): NativeRecord {
    const pattern = tell === undefined ? null : new OutputPattern(tell);
    const native = this.#deps.natives().of(pid);
    if (native === undefined || !this.#isOwn(native))
      throw driverError("Write", "NOT_FOUND", `process ${pid} is not a named program of this process`);
    const { id, uuid, command, cwd, isPty: pty } = native;
    this.#forgetOld();
    const record = { id, pid, uuid, command: [...command], cwd, pty, read_to: 0, is_told: false };
    this.#keep(record);
    const watch: Watch = { native, waiters: 0, notedAt: -1 };
    this.#watched.set(pid, watch);
    void native.told.then(() => this.#ended(watch));
    if (pattern !== null) void this.#tell(watch, pattern);
    return record;
  }

  /** Its end is not noted while this runs: the answer tells of it. */
  async answering<T>(pid: Pid, answer: () => Promise<T>): Promise<T> {
    const watch = this.#watched.get(pid);
    if (watch === undefined) return answer();
    watch.waiters++;
    try {
      return await answer();
    } finally {
      watch.waiters--;
      if (watch.native.end !== null) void this.#ended(watch);
    }
  }

  readTo(record: NativeRecord, position: number, isTold: boolean): void {
    this.#keep({ ...record, read_to: position, is_told: record.is_told || isTold });
    if (isTold && !record.is_told) this.#over(record.pid);
  }

  /** A reader of its output; undefined: the output is gone. */
  reader(record: NativeRecord, from: number): PositionedReader | undefined {
    const native = this.nativeOf(record);
    if (native?.log !== undefined) return native.log.reader(from);
    const found = this.#deps.spools.find(outputName(record.uuid));
    return found && new SkippingReader(found, from);
  }

  close(): void {
    this.#closed.abort(ABORTED);
    this.#watched.clear();
  }

  #keep(record: NativeRecord): void {
    this.#kept.set(nativeKey(record.pid), record);
  }

  async #ended({ native, waiters }: Watch): Promise<void> {
    const { pid } = native;
    if (this.#closed.signal.aborted || waiters > 0 || !this.#watched.has(pid)) return;
    const record = this.find(pid);
    this.#watched.delete(pid);
    const words = `${nameOf(native)} has ended: ${native.end?.exit.reason ?? "killed"}. process_read shows what it printed.`;
    if (await this.#deps.notify(this.#caller.pid, words)) this.#keep({ ...record, is_told: true });
    await this.#deps.reap(pid).catch(() => {});
  }

  #over(pid: Pid): void {
    this.#watched.delete(pid);
    void this.#deps.reap(pid).catch(() => {});
  }

  async #tell(watch: Watch, pattern: OutputPattern): Promise<void> {
    const { native } = watch;
    await native.begun;
    const reader = native.log?.reader(0);
    try {
      while (reader !== undefined) {
        const data = await reader.read(READ_BYTES, this.#closed.signal);
        if (data.byteLength === 0) return;
        if (pattern.matches(data)) {
          pattern.restart();
          await this.#note(watch, reader.position);
        }
        // a program that prints without end does not keep the daemon busy
        if (reader.available > 0) await this.#deps.clock.sleep(PAUSE_MS, this.#closed.signal);
      }
    } catch {
      // the process has ended, or the pattern takes too long on this output
    } finally {
      reader?.close();
    }
  }

  /** Once for what comes until the process reads on; what it has read already needs no note. */
  async #note(watch: Watch, position: number): Promise<void> {
    const { read_to: readTo } = this.find(watch.native.pid);
    if (readTo >= position || watch.notedAt === readTo) return;
    watch.notedAt = readTo;
    const words = `${nameOf(watch.native)} has printed what you wait for. process_read shows it.`;
    await this.#deps.notify(this.#caller.pid, words);
  }

  #forgetOld(): void {
    const ended = this.list().filter((record) => (this.nativeOf(record)?.end ?? true) !== null);
    for (const { pid } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.#kept.set(nativeKey(pid), null);
      this.#watched.delete(pid);
    }
  }
}

function nameOf({ id, pid }: Native): string {
  return `${id} (process ${pid})`;
}

/** From the oldest byte of a spool that nothing writes any more. */
class SkippingReader implements PositionedReader {
  readonly #reader: SpoolReader;
  #skip: number;
  #position = 0;

  constructor(reader: SpoolReader, from: number) {
    this.#reader = reader;
    this.#skip = Math.min(from, reader.available);
  }

  get position(): number {
    return this.#position;
  }

  get available(): number {
    return this.#reader.available - this.#skip;
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    while (this.#skip > 0) {
      const skipped = await this.#reader.read(Math.min(this.#skip, READ_BYTES), signal);
      if (skipped.byteLength === 0) break;
      this.#skip -= skipped.byteLength;
      this.#position += skipped.byteLength;
    }
    const data = await this.#reader.read(length, signal);
    this.#position += data.byteLength;
    return data;
  }

  close(): void {
    this.#reader.close();
  }
}
