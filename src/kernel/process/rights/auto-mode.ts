/** Mode auto: who may be in it, and who is. */
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";

/** What it depends on beside the process. */
interface Judging {
  readonly ports: Pick<KernelPorts, "classifier" | "models" | "permitFor">;
}

/** Why no model judges for this process; "" one does. */
export function autoRefusal({ ports }: Judging, { seed, model }: Process): string {
  if (ports.classifier === undefined) return "";
  if (seed.session.circuit.isBroken) return "its classifier failed too often in this session";
  const card = ports.models.classifierCard?.(model.device, model.name, seed.env);
  if (card?.autoMode === true) return "";
  return `the model ${model.known} is not known to judge calls well enough`;
}

/** Is it judged by a model now? In mode plan too, where that was entered from auto. */
export function isAutoActive(core: Judging, proc: Process): boolean {
  return proc.mode === "auto" || judgesPlan(core, proc);
}

export function judgesPlan(core: Judging, proc: Process): boolean {
  const { classifier } = core.ports;
  if (proc.mode !== "plan" || proc.dial.prior !== "auto" || classifier === undefined) return false;
  if (core.ports.permitFor(proc.seed.cwd).mayEnter?.("auto") === false) return false;
  return classifier.judgesPlan() && autoRefusal(core, proc) === "";
}

/** Brought back: what the model or the session no longer allows is `default`. */
export function recheckAuto(core: Judging, proc: Process): void {
  if (proc.mode === "auto" && autoRefusal(core, proc) !== "") proc.dial.cap("default");
}
