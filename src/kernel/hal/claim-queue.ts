/** Who may hold a device: one alone, or up to 64 together. Those who wait are served in order, 64 at most. */
import { Fault } from "../../abi/errors.ts";
import type { ClaimMode } from "../../abi/methods/ipc/device.ts";
import { reasonOf } from "../../lib/abort.ts";

const SHARED = 64;
const WAITING = 64;

interface Waiter {
  readonly mode: ClaimMode;
  readonly enter: () => void;
}

export class ClaimQueue {
  #isAlone = false;
  #shared = 0;
  #waiting: Waiter[] = [];

  /** A claim of this mode would be served at once. */
  isFree(mode: ClaimMode): boolean {
    return this.#waiting.length === 0 && this.#fits(mode);
  }

  /** `entered` is called in the turn in which the place is taken. Rejects with the reason of the signal. */
  async enter(mode: ClaimMode, entered: () => void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.isFree(mode)) {
      this.#take(mode);
      entered();
      return;
    }
    if (this.#waiting.length >= WAITING)
      throw new Fault({ code: "UNAVAILABLE", message: `too many wait for the device (${WAITING})` });
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(reasonOf(signal));
        this.#serve();
      };
      const enter = (): void => {
        signal.removeEventListener("abort", leave);
        entered();
        resolve();
      };
      const waiter: Waiter = { mode, enter };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  leave(mode: ClaimMode): void {
    if (mode === "exclusive") this.#isAlone = false;
    else this.#shared--;
    this.#serve();
  }

  #fits(mode: ClaimMode): boolean {
    if (this.#isAlone) return false;
    return mode === "exclusive" ? this.#shared === 0 : this.#shared < SHARED;
  }

  #take(mode: ClaimMode): void {
    if (mode === "exclusive") this.#isAlone = true;
    else this.#shared++;
  }

  #serve(): void {
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.mode); [next] = this.#waiting) {
      this.#waiting.shift();
      this.#take(next.mode);
      next.enter();
    }
  }
}
