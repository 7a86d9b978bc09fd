/** One effect on its way through the gate. Every step takes the passage and reads what it needs from it. */

import type { Syscalls } from "../../abi/sys.ts";
import type { Accounting } from "../account/accounting.ts";
import type { JournalHold } from "../ports/journal-hold.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import type { Allows } from "../process/rights/granted.ts";
import type { CallPass } from "./call.ts";
import type { Consent } from "./consent.ts";
import type { Policed } from "./decide.ts";
import type { Effectful } from "./effectful.ts";
import type { Fellowship } from "./fellow-mail.ts";
import type { Quoting } from "./quoted.ts";
import type { Scope } from "./scope.ts";
import type { Namespace } from "./shown.ts";
import type { Scheduling } from "./slot.ts";
import type { Cutting } from "./unseen.ts";

/** What the steps of the gate need of the kernel. */
export type Gatekeeping = Accounting &
  Policed &
  Namespace &
  Quoting &
  Cutting &
  Fellowship &
  Scheduling & {
    readonly ports: Pick<KernelPorts, "exec" | "nonce" | "realPath" | "redactor" | "scratchpads">;
    readonly consent: Consent;
    readonly grants: {
      spend(self: Process, allows: Allows): boolean;
      attend(self: Process, allows: Allows, end: () => void): () => void;
    };
    readonly journalWatch: Pick<JournalHold<Process>, "held" | "begin" | "append">;
    handle(self: Process, scope: Scope): Syscalls;
  };

/** The call that the effect belongs to. */
export type KernelPass<Kernel = Gatekeeping> = CallPass<Kernel, Process>;

export interface Passage extends KernelPass {
  readonly effectful: Effectful;
  /** What this effect may do, as decided so far. For an inner call: what its outer call may do. */
  readonly scope: Scope;
}

/** The passage with further decisions. */
export function decided(passage: Passage, more: Partial<Scope>): Passage {
  return { ...passage, scope: { ...passage.scope, ...more } };
}
