/** How many tokens the model of a process reads at once (its window), as the program is started with it. */
import type { WindowFacts } from "../../abi/context.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "./process.ts";

/** Where the windows of models are known. */
interface Windows {
  readonly ports: { readonly models: Pick<KernelPorts["models"], "window"> };
}

type Seated = Pick<Process, "model"> & { readonly seed: Pick<Process["seed"], "env" | "cwd" | "child"> };

/** undefined: it is not known. */
export function windowOf({ ports }: Windows, { model, seed }: Seated): WindowFacts | undefined {
  const found = ports.models.window?.(model.device, model.name, seed);
  if (found === undefined || seed.child === undefined) return found;
  // the model that started it may not say how much it should write
  const { targets: _, ...window } = found;
  return window;
}

/** Those of its fallbacks, in order; null: not known. */
export function fallbackWindowsOf(
  { ports }: Windows,
  { model, seed }: Seated,
): readonly (WindowFacts | null)[] {
  return model.fallbacks.map((each) => ports.models.window?.(each.device, each.model, seed) ?? null);
}
