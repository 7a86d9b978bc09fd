/**
 * The open files of one process: numbers from 3, counting up, never reused; 0 and 1 are given at spawn. Calls of one
 * direction on one fd run one after another; a read may wait while a write runs. Closing removes the fd first, then
 * aborts the calls in progress on it.
 */

import type { OpenFile, OpenFlag } from "../../abi/device.ts";
import { VfsError } from "../../abi/errors.ts";
import { asFd, type Fd, type Pid } from "../../abi/ids.ts";
import { ABORTED } from "../../lib/abort.ts";
import { Serial } from "../../lib/serial.ts";
import type { Inflow } from "../labels/inflow.ts";
import { LIMITS } from "../limits.ts";

export interface FdEntry {
  readonly fd: Fd;
  readonly file: OpenFile;
  /** The path as it was opened. */
  readonly path: string;
  readonly mount: string;
  readonly traffic: "message" | "byte";
  readonly flags: OpenFlag;
  /** Fires at close. */
  readonly closing: AbortController;
  /** Its calls, in order for each direction. */
  readonly calls: { readonly read: Serial; readonly write: Serial };
  /** Called once, after the device's close: the end of an effect that lasts as long as the file is open. */
  readonly onClose: (error: unknown) => void;
  /** For tool calls: bytes written and when, for the line of the verbose screen. */
  lastWrite: { bytes: number; began: number } | null;
  /** Milliseconds that its writes have taken, since they were last told. */
  busyMs: number;
  /** A write to this fd was permitted to read a secret. */
  isSecret?: true;
  /** The labels that its reads may bring in; absent or null: it reads nothing that has labels. */
  inflow?: Inflow | null;
}

export type FdDraft = Pick<FdEntry, "file" | "path" | "mount" | "traffic" | "flags"> & {
  onClose?: (error: unknown) => void;
};

export class FdTable {
  readonly #pid: Pid;
  readonly #open = new Map<Fd, FdEntry>();
  /** Places reserved for files that are being opened. */
  #claims = 0;
  #ended = false;
  #next = 3;

  constructor(pid: Pid) {
    this.#pid = pid;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The process has ended: no file can be added. */
  get isEnded(): boolean {
    return this.#ended;
  }

  list(): { fd: Fd; path: string; flags: number }[] {
    return [...this.#open.values()].map(({ fd, path, flags }) => ({ fd, path, flags }));
  }

  /** Reserves a place while a file is opened; the result frees it. UNAVAILABLE: the table is full. */
  claim(path: string, op = "Open"): () => void {
    if (this.#open.size + this.#claims >= LIMITS.openFds) {
      const message = `too many open files: ${LIMITS.openFds}`;
      throw new VfsError({ op, pid: this.#pid, device: path, code: "UNAVAILABLE", message });
    }
    this.#claims++;
    return () => {
      this.#claims--;
    };
  }

  /** Called within a claim. CANCELLED if the process has ended: the caller must then close the file. */
  add(draft: FdDraft): FdEntry {
    if (this.#ended) {
      const { path } = draft;
      throw new VfsError({
        op: "Open",
        pid: this.#pid,
        device: path,
        code: "CANCELLED",
        message: "cancelled",
      });
    }
    const fd = asFd(this.#next++);
    const entry = entryOf(fd, draft);
    this.#open.set(fd, entry);
    return entry;
  }

  /** Sets fd 0 or 1, before the process runs. */
  install(fd: Fd, draft: FdDraft): void {
    this.#open.set(fd, entryOf(fd, draft));
  }

  has(fd: Fd): boolean {
    return this.#open.has(fd);
  }

  /** Removes an fd without closing it, to give it to another process. Calls in progress on it are aborted. */
  take(fd: Fd): FdDraft {
    const entry = this.find(fd, "Spawn");
    this.#open.delete(fd);
    entry.closing.abort(ABORTED);
    return entry;
  }

  find(fd: Fd, op: string): FdEntry {
    const entry = this.#open.get(fd);
    if (entry !== undefined) return entry;
    throw new VfsError({ op, pid: this.#pid, code: "NOT_FOUND", message: `fd is not open: ${fd}` });
  }

  async close(fd: Fd): Promise<void> {
    const entry = this.find(fd, "Close");
    this.#open.delete(fd);
    entry.closing.abort(ABORTED);
    let failure: unknown;
    try {
      await entry.file.close();
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      entry.onClose(failure);
    }
  }

  /**
   * At the end of the process: closes all, in reverse order of opening; a failure does not stop the rest. No fd is
   * added after.
   */
  async closeAll(onFailure: (error: unknown) => void): Promise<void> {
    this.#ended = true;
    for (const fd of [...this.#open.keys()].reverse()) {
      try {
        if (this.#open.has(fd)) await this.close(fd);
      } catch (error) {
        onFailure(error);
      }
    }
  }

  /** closeAll without waiting: for a program that does not end, whose devices may not answer either. */
  abandonAll(onFailure: (error: unknown) => void): void {
    this.#ended = true;
    for (const fd of [...this.#open.keys()].reverse()) void this.close(fd).catch(onFailure);
  }
}

function entryOf(fd: Fd, { file, path, mount, traffic, flags, onClose = () => {} }: FdDraft): FdEntry {
  const calls = { read: new Serial(), write: new Serial() };
  const closing = new AbortController();
  return { file, path, mount, traffic, flags, onClose, fd, closing, calls, lastWrite: null, busyMs: 0 };
}
