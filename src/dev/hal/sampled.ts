/** Devices that are measured when they are read: a line of JSON each time. A stream brings one a second. */
import type { Clock } from "../../abi/program.ts";
import type { HalChannel, HalDriver, HalIdentity, HalPiece, HalReading } from "../../kernel/ports/hal.ts";
import { driverError } from "../driver-error.ts";

const EVERY_MS = 1_000;

export function sampledDriver(
  identity: Pick<HalIdentity, "id" | "name">,
  clock: Pick<Clock, "sleep">,
  sample: () => object,
): HalDriver {
  return {
    identity: { ...identity, kind: "sensor", driver: "sampled", modes: ["read", "stream"] },
    isHarmless: true,
    meta: () => ({ content: "json", streamEveryMs: EVERY_MS }),
    open: async () => new SampledChannel(clock, sample),
  };
}

class SampledChannel implements HalChannel {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #sample: () => object;
  #content = new Uint8Array(0);
  #at = 0;
  #hasStreamed = false;

  constructor(clock: Pick<Clock, "sleep">, sample: () => object) {
    this.#clock = clock;
    this.#sample = sample;
  }

  async read(
    length: number,
    { offset = this.#at, isStream = false }: HalReading,
    signal: AbortSignal,
  ): Promise<HalPiece> {
    signal.throwIfAborted();
    if (offset === 0) await this.#measure(isStream, signal);
    const data = this.#content.subarray(offset, offset + length);
    this.#at = Math.min(offset + data.byteLength, this.#content.byteLength);
    const isEnd = this.#at === this.#content.byteLength;
    if (isEnd) this.#at = 0;
    return { data, isEnd: isEnd && !isStream };
  }

  async write(): Promise<void> {
    throw driverError("Write", "PERMISSION", "the device is read-only");
  }

  async close(): Promise<void> {}

  async #measure(isStream: boolean, signal: AbortSignal): Promise<void> {
    if (isStream && this.#hasStreamed) await this.#clock.sleep(EVERY_MS, signal);
    this.#hasStreamed ||= isStream;
    this.#content = new Uint8Array(Buffer.from(`${JSON.stringify(this.#sample())}\n`));
  }
}
