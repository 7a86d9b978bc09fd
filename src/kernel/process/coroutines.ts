/** The coroutines of one process: each runs only between a resume and a yield. Made on first use. */
import type { CoId } from "../../abi/ids.ts";
import type { CoroutineHandle, CoroutineStep } from "../../abi/sys.ts";

export class Coroutines {
  /** Of those that have not ended. */
  get live(): number {
    return 0;
  }
  spawn<I, O, R>(_body: (co: CoroutineHandle<I, O>, first: I) => Promise<R>): CoId {
    throw new Error("to be written");
  }
  resume<I, O, R>(_id: CoId, _value: I, _signal: AbortSignal): Promise<CoroutineStep<O, R>> {
    throw new Error("to be written");
  }
  cancel(_id: CoId): Promise<void> {
    throw new Error("to be written");
  }
  /** One waiting in yield is drained, one waiting for resume is rejected. */
  async clear(): Promise<void> {}
}
