/**
 * A program under /bin that shows a file of Crux's own tree declares its path alone; what reading it does is known to the device
 * behind the path, and is judged, asked and labelled as if the program had said it.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import type { Resolved } from "../vfs/registry.ts";

export function withShown(core: Core, self: Process, effects: readonly Effect[]): readonly Effect[] {
  return effects.flatMap((effect) =>
    effect.kind === "state" ? [effect, ...shownAt(core, self, effect.path)] : [effect],
  );
}

/** Nothing where nothing is, or nothing to be seen: opening it fails. */
function shownAt(core: Core, self: Process, path: string): readonly Effect[] {
  const found = findDevice(core, self, path);
  if (found === undefined || !core.mounts.isVisible(core, self, found.mount)) return [];
  return found.device.shownEffects?.(found.subpath) ?? [];
}

function findDevice(core: Core, self: Process, path: string): Resolved | undefined {
  try {
    return core.devices.resolve(path, "Open", self.pid);
  } catch {
    return undefined;
  }
}
