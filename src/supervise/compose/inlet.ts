import type { Carried } from "../../abi/device.ts";
import { codeOf, DriverError, messageOf } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";
import type { PipeEnd } from "../../kernel/ipc/pipe.ts";
import { uniteLabels } from "../../kernel/labels/label-set.ts";
import type { Spool, SpoolReader } from "../../kernel/ports/spools.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";

export class Inlet {
  /** The labels of what was written: the reader gets them, as from any pipe. */
  readonly carried: Carried = { labels: [] };
  readonly #spool: Spool;
  /** Fires when all writers have ended. */
  readonly #ended = new AbortController();
  #isBroken = false;
  /** The number of runs of the reader that have it open as fd 0. */
  #readers = 0;
  readonly #closed = new WeakSet<SpoolReader>();
  /** Called when the last run has closed it. */
  onUnread: (() => void) | null = null;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** What is written may still be read. */
  get isOpen(): boolean {
    return !this.#ended.signal.aborted && !this.#isBroken;
  }

  /** A run of the reader has it open. */
  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** UNAVAILABLE: more than 64 MiB are unread. */
  write(data: Uint8Array, labels: readonly Label[] = []): void {
    this.carried.labels = uniteLabels(this.carried.labels, labels);
    this.#spool.write(data);
  }

  /** All writers have ended: the reader gets the end of file after the rest. */
  end(): void {
    this.#ended.abort(ABORTED);
  }

  /** The reader has ended: writers get an error. */
  break(): void {
    this.#isBroken = true;
  }

  async remove(): Promise<void> {
    this.#isBroken = true;
    await this.#spool.remove();
  }

  /** fd 0 for one run of the reader. The caller must close it: unread data is kept for it until then. */
  reader(): PipeEnd {
    const reader = this.#spool.reader(0);
    this.#readers++;
    return {
      carried: this.carried,
      heedsSignal: true,
      read: (length, signal) => this.#read(reader, length, signal),
      write: () => Promise.reject(refused("PERMISSION", "/dev/stdin", "read only")),
      close: async () => this.#close(reader),
      stat: async () => ({ name: "stdin", size: 0, isDevice: false, devicePath: "/dev/stdin" }),
    };
  }

  /** Counts only the first close of each run, also for a run whose start failed. */
  #close(reader: SpoolReader): void {
    if (this.#closed.has(reader)) return;
    this.#closed.add(reader);
    reader.close();
    this.#readers--;
    if (this.#readers === 0) this.onUnread?.();
  }

  async #read(reader: SpoolReader, length: number, signal: AbortSignal): Promise<Uint8Array> {
    const ended = this.#ended.signal;
    while (reader.available > 0 || !ended.aborted) {
      // the end interrupts a wait only where no data is left to read
      using linked = linkSignals(signal, reader.available > 0 ? undefined : ended);
      try {
        return await reader.read(length, linked.signal);
      } catch (error) {
        if (error !== ended.reason) throw error;
      }
    }
    return NOTHING;
  }
}

const NOTHING = new Uint8Array();

/** Writes to all open inlets. DRIVER (broken pipe): none is open. Without inlets the data is discarded. */
export function writeToAll(
  inlets: readonly Inlet[],
  device: string,
  { data, labels = [] }: { readonly data: Uint8Array; readonly labels?: readonly Label[] },
): void {
  if (inlets.length === 0) return;
  const open = inlets.filter(({ isOpen }) => isOpen);
  if (open.length === 0) throw refused("DRIVER", device, "broken pipe");
  for (const inlet of open) {
    try {
      inlet.write(data, labels);
    } catch (error) {
      throw refused(codeOf(error), device, messageOf(error));
    }
  }
}

function refused(code: DriverError["code"], device: string, message: string): DriverError {
  return new DriverError({ op: device === "/dev/stdin" ? "Read" : "Write", device, code, message });
}

interface OutputListener {
  chunk?(data: Uint8Array): void;
  end?(): void;
  /** The pipe of a reader is full: it does not get this data. */
  overflow?(): void;
  /** The present inlets; called at each write. */
  inlets(): readonly Inlet[];
  /** The labels of what a program has read: its writes do not carry them by themselves. */
  labels?(): readonly Label[];
}

/** The fd 1 or 2 of a replica: writes go to the open pipes. */
export function outputFile(name: "stdout" | "stderr", listener: OutputListener): PipeEnd {
  const device = `/dev/${name}`;
  const carried: Carried = { labels: [] };
  return {
    carried,
    read: () =>
      Promise.reject(new DriverError({ op: "Read", device, code: "PERMISSION", message: "write only" })),
    write: async (data) => {
      listener.chunk?.(data);
      try {
        const labels = uniteLabels(carried.labels, listener.labels?.() ?? []);
        writeToAll(listener.inlets(), device, { data, labels });
      } catch (error) {
        if (codeOf(error) === "UNAVAILABLE") listener.overflow?.();
        throw error;
      }
    },
    close: async () => listener.end?.(),
    stat: async () => ({ name, size: 0, isDevice: false, devicePath: device }),
  };
}
