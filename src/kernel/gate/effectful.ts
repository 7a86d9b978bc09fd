/** A call that has effects, as the gate sees it. */
import type { WritePlan } from "../../abi/device.ts";
import type { Charge } from "../../abi/effects.ts";

/** What the gate must know about an effect before it happens. */
export interface Effectful extends WritePlan {
  /** `Open`, `Write` or `Stat`. */
  readonly syscall: string;
  /** The opened path. */
  readonly device: string;
  /** The arguments as text, for the journal; cut at 64 KiB. */
  readonly input: string;
  /** What it cost; called once it is over. */
  charge?(): Charge | undefined;
}
