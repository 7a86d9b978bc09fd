/** One effect on its way through the gate. Every station of it takes the passage, and reads of it what it needs. */
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import type { CallPass } from "./call.ts";
import type { Effectful } from "./effectful.ts";
import type { Scope } from "./scope.ts";

/** The call that the effect belongs to. */
export type KernelPass = CallPass<Core, Process>;

export interface Passage extends KernelPass {
  readonly effectful: Effectful;
  /** What this effect may, as far as the stations behind it have decided. Of a part: what its whole call may. */
  readonly scope: Scope;
}

/** After a station that decided more. */
export function decided(passage: Passage, more: Partial<Scope>): Passage {
  return { ...passage, scope: { ...passage.scope, ...more } };
}
