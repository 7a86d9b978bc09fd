/** One effect on its way through the gate. Every step takes the passage and reads what it needs from it. */
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import type { CallPass } from "./call.ts";
import type { Effectful } from "./effectful.ts";
import type { Scope } from "./scope.ts";

/** The call that the effect belongs to. */
export type KernelPass = CallPass<Core, Process>;

export interface Passage extends KernelPass {
  readonly effectful: Effectful;
  /** What this effect may do, as decided so far. For an inner call: what its outer call may do. */
  readonly scope: Scope;
}

/** The passage with further decisions. */
export function decided(passage: Passage, more: Partial<Scope>): Passage {
  return { ...passage, scope: { ...passage.scope, ...more } };
}
