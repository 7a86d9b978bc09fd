/**
 * A claimed device chunk by chunk, for one client. What it reads waits for credit in the device, whose record says what it
 * drops then; what it writes is held here within the credit that was given, and the device takes it in its time.
 */
import { IPC, type IpcChunk, type IpcEvent, PACKET } from "../../../abi/ipc.ts";
import type { Clock } from "../../../abi/program.ts";
import { ABORTED } from "../../../lib/abort.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { invalid } from "../request.ts";
import type { IpcHandler } from "./call.ts";
import { checkWrites, type HeldClaim, heldBy, readBy, writeBy } from "./devices.ts";
import type { Followed, FrameOutput } from "./stream-subscription.ts";

const WINDOW = 262_144;

export const stream: IpcHandler<"device.stream"> = (params, call) => {
  const { claim: id, direction, window = WINDOW } = params;
  const { session, context } = call;
  const own = heldBy(id, call);
  const { modes } = session.kernel.hal.driverOf(own.claim.device).identity;
  if (!modes.includes("stream")) throw invalid(`params.direction: ${own.claim.device} does not stream`);
  if (direction !== "read" && !modes.includes("write"))
    throw invalid(`params.direction: ${own.claim.device} is read-only`);
  if (direction !== "read") checkWrites(own);
  session.checkRoom();
  const { output } = session;
  const credit = session.features.has("flow") ? window : Infinity;
  const wish = { own, direction, window, credit, clock: context.clock };
  return { stream: session.subscribe((name) => new DeviceStream({ ...wish, name }, output)) };
};

interface DeviceWish {
  readonly name: string;
  readonly own: HeldClaim;
  readonly direction: "read" | "write" | "both";
  /** The bytes that the client may send before it is allowed more. */
  readonly window: number;
  /** The bytes that may be sent to the client; Infinity: as it reads. */
  readonly credit: number;
  readonly clock: Pick<Clock, "now">;
}

class DeviceStream implements Followed {
  readonly #wish: DeviceWish;
  readonly #output: FrameOutput;
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  #credit: number;
  #moreCredit = Promise.withResolvers<void>();
  #seq = 0;
  #position = 0;
  /** What the client has sent and the device has not taken. */
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #isFed = false;
  #moreInput = Promise.withResolvers<void>();

  constructor(wish: DeviceWish, output: FrameOutput) {
    this.#wish = wish;
    this.#output = output;
    this.#credit = wish.credit;
  }

  get over(): Promise<void> {
    return this.#done.promise;
  }

  allow(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, IPC.maxCreditBytes);
    this.#moreCredit.resolve();
    this.#moreCredit = Promise.withResolvers<void>();
  }

  close(): void {
    this.#stop.abort(ABORTED);
    this.#moreCredit.resolve();
    this.#moreInput.resolve();
  }

  /** A chunk of the client. One that it had no credit for ends the stream: nothing is lost silently. */
  feed({ data, end }: Partial<IpcChunk>): void {
    if (this.#wish.direction === "read") return;
    if (data instanceof Uint8Array) {
      this.#queuedBytes += data.byteLength;
      if (this.#queuedBytes > this.#wish.window || data.byteLength > IPC.chunkBytes) this.close();
      else this.#queue.push(data);
    }
    this.#isFed ||= end === true;
    this.#moreInput.resolve();
    this.#moreInput = Promise.withResolvers<void>();
  }

  /** Never rejects. It ends with the claim too. */
  async run(): Promise<void> {
    const { own, direction } = this.#wish;
    const stop = (): void => this.close();
    own.claim.over.addEventListener("abort", stop, { once: true });
    try {
      const writing = direction === "read" ? undefined : this.#write();
      if (direction === "write") await writing;
      else await Promise.race([this.#read(), (writing ?? this.over).then(() => this.over)]);
    } catch {
      // closed, or the device failed: the client reads or claims again and is told
    } finally {
      this.close();
      own.claim.over.removeEventListener("abort", stop);
      this.#send({ offset: this.#position, next: this.#position, end: true });
      this.#done.resolve();
    }
  }

  async #read(): Promise<void> {
    const { own } = this.#wish;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      while (this.#credit <= 0 && !signal.aborted) await this.#moreCredit.promise;
      await this.#output.room();
      const length = Math.min(IPC.chunkBytes, Math.max(1, this.#credit));
      const data = await readBy(own, { length, isStream: true, signal });
      const { dropped = 0, isEnd = true } = own.claim.last ?? {};
      if (dropped > 0) this.#tellGap(dropped);
      const offset = this.#position;
      this.#position += data.byteLength;
      this.#credit -= data.byteLength;
      if (data.byteLength > 0) this.#send({ offset, next: this.#position, data });
      if (isEnd) return;
    }
  }

  #tellGap(dropped: number): void {
    const from = this.#position;
    this.#position += dropped;
    this.#send({ offset: from, next: this.#position, gap: { from, to: this.#position } });
  }

  async #write(): Promise<void> {
    const { own } = this.#wish;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const data = this.#queue.shift();
      if (data !== undefined) {
        await writeBy(own, data, { signal });
        this.#queuedBytes -= data.byteLength;
        this.#grant(data.byteLength);
      } else if (this.#isFed) return;
      else await this.#moreInput.promise;
    }
  }

  /** The client may send so many bytes more. */
  #grant(bytes: number): void {
    const { name, clock } = this.#wish;
    const at = Math.floor(clock.now());
    const event: IpcEvent = { event: "stream.credit", seq: 0, at, subscription: name, data: { bytes } };
    this.#output.send(packFrame(PACKET.event, event));
  }

  #send(more: Pick<IpcChunk, "offset" | "next"> & Partial<IpcChunk>): void {
    const { name: stream, own } = this.#wish;
    const { pid, device: id } = own.claim;
    const chunk: IpcChunk = { stream, event: "device.chunk", seq: ++this.#seq, pid, id, ...more };
    this.#output.send(packFrame(PACKET.chunk, chunk));
  }
}
