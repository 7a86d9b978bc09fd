/**
 * A camera whose pictures are in a file, one behind the other and of one size; after the last comes the first again. Frames
 * come in their time, whether somebody reads or not: a reader gets the newest, and is told what it missed.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "../../abi/program.ts";
import type { HalChannel, HalDriver, HalPiece, HalReading } from "../../kernel/ports/hal.ts";
import { driverError, hostError } from "../driver-error.ts";
import { type DiskSource, present, readOnly } from "./place.ts";

interface Camera extends DiskSource {
  readonly frameBytes: number;
  readonly everyMs: number;
}

type Time = Pick<Clock, "mono" | "sleep">;

export function framesDriver(camera: Camera, clock: Time): HalDriver {
  const { id, path, frameBytes, everyMs } = camera;
  const count = { dropped: 0 };
  return {
    identity: { id, kind: "camera", name: path, driver: "frames", modes: ["read", "stream"] },
    isHarmless: false,
    meta: () => ({ frameBytes, everyMs, overflow: "drop", droppedFrames: count.dropped }),
    ...present(path, clock),
    async open() {
      try {
        return new CameraChannel(await open(path), camera, { clock, count });
      } catch (error) {
        throw hostError("Open", path, error);
      }
    },
  };
}

class CameraChannel implements HalChannel {
  readonly #file: FileHandle;
  readonly #camera: Camera;
  readonly #clock: Time;
  readonly #count: { dropped: number };
  readonly #beganAt: number;
  /** The frame that is read, and how much of it has been. */
  #frame = -1;
  #rest = Buffer.alloc(0);

  constructor(
    file: FileHandle,
    camera: Camera,
    { clock, count }: { clock: Time; count: { dropped: number } },
  ) {
    this.#file = file;
    this.#camera = camera;
    this.#clock = clock;
    this.#count = count;
    this.#beganAt = clock.mono();
  }

  /** A read that is shorter than a frame gets the rest of the same frame next. */
  async read(length: number, _reading: HalReading, signal: AbortSignal): Promise<HalPiece> {
    signal.throwIfAborted();
    const dropped = this.#rest.byteLength === 0 ? await this.#next(signal) : 0;
    const data = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return { data, isEnd: false, dropped: dropped * this.#camera.frameBytes };
  }

  readonly write = readOnly;

  close(): Promise<void> {
    return this.#file.close();
  }

  /** How many frames have come since the last one that was read, and are lost. */
  async #next(signal: AbortSignal): Promise<number> {
    const { frameBytes, everyMs } = this.#camera;
    const at = (): number => Math.floor((this.#clock.mono() - this.#beganAt) / everyMs);
    while (at() <= this.#frame) {
      const due = this.#beganAt + (this.#frame + 1) * everyMs;
      await this.#clock.sleep(Math.max(1, due - this.#clock.mono()), signal);
    }
    const frame = at();
    const frames = framesIn((await this.#file.stat()).size, frameBytes);
    const buffer = Buffer.alloc(frameBytes);
    await this.#file.read(buffer, 0, frameBytes, (frame % frames) * frameBytes);
    signal.throwIfAborted();
    const dropped = this.#frame < 0 ? 0 : frame - this.#frame - 1;
    this.#frame = frame;
    this.#rest = buffer;
    this.#count.dropped += dropped;
    return dropped;
  }
}

/** DRIVER: not one. */
function framesIn(bytes: number, frameBytes: number): number {
  const count = Math.floor(bytes / frameBytes);
  if (count === 0) throw driverError("Read", "DRIVER", `the file has no frame of ${frameBytes} bytes`);
  return count;
}
