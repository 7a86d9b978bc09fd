/** Auto mode: which processes may enter it, and which are in it. */
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";

/** What these functions need besides the process. */
export interface Judging {
  readonly ports: Pick<KernelPorts, "classifier" | "models" | "permitFor">;
}

/** Why this process cannot be in auto mode; "" if it can. */
export function autoRefusal({ ports }: Judging, { seed, model }: Process): string {
  if (ports.classifier === undefined) return "";
  if (seed.session.circuit.isBroken) return "its classifier failed too often in this session";
  const card = ports.models.classifierCard?.(model.device, model.name, seed.env);
  if (card?.autoMode === true) return "";
  return `the model ${model.known} is not known to judge calls well enough`;
}

/** Whether a model judges its calls now; in plan mode too, if that was entered from auto mode. */
export function isAutoActive(core: Judging, proc: Process): boolean {
  return proc.mode === "auto" || judgesPlan(core, proc);
}

export function judgesPlan(core: Judging, proc: Process): boolean {
  const { classifier } = core.ports;
  if (proc.mode !== "plan" || proc.dial.prior !== "auto" || classifier === undefined) return false;
  if (core.ports.permitFor(proc.seed.cwd).mayEnter?.("auto") === false) return false;
  return classifier.judgesPlan() && autoRefusal(core, proc) === "";
}

/** For a restored process: falls back to `default` if its model or its session no longer allows auto mode. */
export function recheckAuto(core: Judging, proc: Process): void {
  if (proc.mode === "auto" && autoRefusal(core, proc) !== "") proc.dial.cap("default");
}
