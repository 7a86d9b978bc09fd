/** A folder whose changes are read as lines of JSON. What nobody has read in time is dropped, and counted. */
import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../../abi/program.ts";
import type { HalChannel, HalDriver, HalPiece, HalReading } from "../../kernel/ports/hal.ts";
import { abortable } from "../../lib/abort.ts";
import { hostError } from "../driver-error.ts";
import { type DiskSource, present, readOnly } from "./place.ts";

/** Changes that one holder has not read. */
const HELD_BYTES = 65_536;

export function folderDriver(place: DiskSource, clock: Pick<Clock, "now" | "sleep">): HalDriver {
  const count = { dropped: 0 };
  return {
    identity: { id: place.id, kind: "sensor", name: place.path, driver: "folder", modes: ["read", "stream"] },
    isHarmless: false,
    meta: () => ({ content: "json lines", bufferBytes: HELD_BYTES, droppedBytes: count.dropped }),
    ...present(place.path, clock),
    open: async () => new FolderChannel(place.path, clock, count),
  };
}

class FolderChannel implements HalChannel {
  readonly #watcher: FSWatcher;
  readonly #count: { dropped: number };
  #held = Buffer.alloc(0);
  #dropped = 0;
  #more = Promise.withResolvers<void>();

  constructor(path: string, clock: Pick<Clock, "now">, count: { dropped: number }) {
    this.#count = count;
    try {
      this.#watcher = watch(path, { persistent: false }, (event, name) =>
        this.#put(Buffer.from(`${JSON.stringify({ at: Math.floor(clock.now()), event, name })}\n`)),
      );
    } catch (error) {
      throw hostError("Open", path, error);
    }
    // the folder has gone: its claims end
    this.#watcher.on("error", () => {});
  }

  async read(length: number, _reading: HalReading, signal: AbortSignal): Promise<HalPiece> {
    signal.throwIfAborted();
    while (this.#held.byteLength === 0) await abortable(this.#more.promise, signal);
    const data = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { data, isEnd: false, dropped };
  }

  readonly write = readOnly;

  async close(): Promise<void> {
    this.#watcher.close();
  }

  /** A line that finds no room is dropped as a whole; those before it stay. */
  #put(line: Buffer): void {
    if (this.#held.byteLength + line.byteLength > HELD_BYTES) {
      this.#dropped += line.byteLength;
      this.#count.dropped += line.byteLength;
      return;
    }
    this.#held = Buffer.concat([this.#held, line]);
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  }
}
