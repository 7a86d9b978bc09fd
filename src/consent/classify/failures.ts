/** What happens to a session whose classifier fails. */

import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type ModeKernel, setMode } from "../../kernel/process/rights/set-mode.ts";
import type { Session } from "../../kernel/process/session.ts";

/** What counting failures needs of the kernel. */
export interface Failing extends ModeKernel {
  readonly ports: ModeKernel["ports"] & Pick<KernelPorts, "log">;
}

/** Counts a finished classification; the fifth failure in a row ends auto mode for the whole session. */
export async function noteClassified(core: Failing, { seed }: Process, isFailed: boolean): Promise<void> {
  const { session } = seed;
  const { circuit } = session;
  if (!isFailed) {
    if (circuit.recordSuccess()) keep(core, session);
    return;
  }
  const isBroken = circuit.recordFailure();
  keep(core, session);
  if (!isBroken) return;
  core.ports.log("warn", `session of pid ${session.owner?.pid ?? 0}: the classifier failed too often`);
  const by = { principal: "kernel", client: "", uid: null, isPerson: false };
  for (const proc of [...core.table.all()])
    if (proc.seed.session === session && proc.isLive && proc.mode === "auto")
      await setMode(core, proc, { mode: "default", by });
}

function keep({ ports }: ModeKernel, { owner, circuit }: Session): void {
  circuit.isKnown = true;
  if (owner !== null) ports.journal.note([{ ...owner, kind: "permit.circuit", v: 1, body: circuit.state }]);
}
