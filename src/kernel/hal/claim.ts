/** One claim of a device: what its holder reads and writes by, until it ends. */
import { DriverError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ClaimMode } from "../../abi/methods/ipc/device.ts";
import type { Clock } from "../../abi/program.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import type { ClaimEnd, HalChannel, HalClaim, HalPiece, HalReading } from "../ports/hal.ts";

interface Made {
  readonly id: string;
  readonly device: string;
  readonly mode: ClaimMode;
  readonly fence: number;
  readonly pid: Pid;
  readonly owner: unknown;
  readonly channel: HalChannel;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** Called once, at the end; resolves when others have been told. */
  readonly onEnd: (claim: Claim, why: ClaimEnd) => Promise<void>;
}

export class Claim implements HalClaim {
  readonly #made: Made;
  readonly #over = new AbortController();
  #timer: AbortController | undefined;
  #expiresAt: number | null = null;
  #ended: ClaimEnd | undefined;
  readonly #told = Promise.withResolvers<void>();
  last: HalPiece | undefined;
  reading: HalReading | undefined;
  writeAt: number | undefined;

  constructor(made: Made) {
    this.#made = made;
  }

  get id(): string {
    return this.#made.id;
  }

  get device(): string {
    return this.#made.device;
  }

  get mode(): ClaimMode {
    return this.#made.mode;
  }

  get fence(): number {
    return this.#made.fence;
  }

  get pid(): Pid {
    return this.#made.pid;
  }

  get owner(): unknown {
    return this.#made.owner;
  }

  get expiresAt(): number | null {
    return this.#expiresAt;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  get ended(): ClaimEnd | undefined {
    return this.#ended;
  }

  renew(ttlMs: number): void {
    this.#timer?.abort(ABORTED);
    this.#timer = undefined;
    if (ttlMs === Infinity) return;
    const { clock } = this.#made;
    const timer = new AbortController();
    this.#timer = timer;
    this.#expiresAt = Math.floor(clock.now()) + ttlMs;
    clock.sleep(ttlMs, timer.signal).then(
      () => this.end("expired"),
      () => {},
    );
  }

  async read(length: number, signal: AbortSignal): Promise<HalPiece> {
    using linked = linkSignals(signal, this.over);
    try {
      this.#check("Read");
      const piece = await this.#made.channel.read(length, this.reading ?? {}, linked.signal);
      this.last = piece;
      return piece;
    } catch (error) {
      throw this.#explained("Read", error, linked.signal);
    }
  }

  async write(data: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.mode === "shared")
      throw new DriverError({ op: "Write", code: "PERMISSION", message: "a shared claim only reads" });
    using linked = linkSignals(signal, this.over);
    try {
      this.#check("Write");
      await this.#made.channel.write(data, this.writeAt, linked.signal);
    } catch (error) {
      throw this.#explained("Write", error, linked.signal);
    }
  }

  /** Idempotent. What hears of the end closes the file, and so comes here again. */
  end(why: ClaimEnd): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = why;
      void this.#end(why).then(this.#told.resolve, this.#told.reject);
    }
    return this.#told.promise;
  }

  async #end(why: ClaimEnd): Promise<void> {
    this.#timer?.abort(ABORTED);
    this.#over.abort(ABORTED);
    await this.#made.channel.close().catch(() => {});
    await this.#made.onEnd(this, why);
  }

  #check(op: string): void {
    if (this.#ended !== undefined) throw expired(op);
  }

  #explained(op: string, error: unknown, signal: AbortSignal): unknown {
    if (this.#ended !== undefined) return expired(op);
    if (!signal.aborted || error instanceof DriverError) return error;
    return new DriverError({ op, code: "CANCELLED", message: "cancelled", cause: error });
  }
}

function expired(op: string): DriverError {
  return new DriverError({ op, code: "CONFLICT", message: "claim expired" });
}
