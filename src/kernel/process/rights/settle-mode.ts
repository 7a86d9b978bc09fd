/** The mode in which an agent begins, once its model is known. */
import { Fault } from "../../../abi/errors.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Making } from "../body.ts";
import { autoRefusal, type Judging } from "./auto-mode.ts";

type Settling = Judging & { readonly ports: Pick<KernelPorts, "clock"> };

/** UNAVAILABLE: the user requested auto mode, but the model cannot judge. Auto mode by default becomes `default`. */
export function settleMode(core: Settling, { parent, proc, opts }: Making): void {
  const refusal = proc.mode === "auto" ? autoRefusal(core, proc) : "";
  if (refusal !== "") {
    if (parent.pid === PID_KERNEL && opts.permissionMode === "auto") throw unavailable(refusal);
    proc.dial.turn("default");
    proc.log("warn", `not in auto mode: ${refusal}`, core.ports.clock.mono());
  }
  if (opts.plan === true) proc.dial.turn("plan");
}

function unavailable(refusal: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    message: `auto mode: ${refusal}`,
    fact: { kind: "model_unfit" },
  });
}
