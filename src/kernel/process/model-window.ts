/** How many tokens the model of a process reads at once (its window), as the program is started with it. */
import type { WindowFacts } from "../../abi/context.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "./process.ts";

/** Where the windows of models are known. */
interface Windows {
  readonly ports: { readonly models: Pick<KernelPorts["models"], "window"> };
}

type Seated = Pick<Process, "model"> & { readonly seed: Pick<Process["seed"], "env" | "cwd"> };

/** undefined: it is not known. */
export function windowOf({ ports }: Windows, { model, seed }: Seated): WindowFacts | undefined {
  return ports.models.window?.(model.device, model.name, seed);
}

/** Those of its fallbacks, in order; null: not known. */
export function fallbackWindowsOf(
  { ports }: Windows,
  { model, seed }: Seated,
): readonly (WindowFacts | null)[] {
  return model.fallbacks.map((each) => ports.models.window?.(each.device, each.model, seed) ?? null);
}
