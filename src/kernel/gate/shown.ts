/**
 * A program under /bin that shows a file of Crux's own tree declares only its path. The device behind the path knows
 * the effects of reading it; these are judged, asked and labelled as if the program had declared them.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Process } from "../process/process.ts";
import type { Mounts } from "../vfs/mounts.ts";
import type { DeviceRegistry, Resolved } from "../vfs/registry.ts";

/** Finds the device behind a path, and whether a process may see it. */
export interface Namespace {
  readonly mounts: Pick<Mounts, "isVisible">;
  readonly devices: Pick<DeviceRegistry, "resolve">;
}

export function withShown(space: Namespace, self: Process, effects: readonly Effect[]): readonly Effect[] {
  return effects.flatMap((effect) =>
    effect.kind === "state" ? [effect, ...shownAt(space, self, effect.path)] : [effect],
  );
}

/** Empty if nothing is there, or it is not visible: opening it then fails. */
function shownAt(space: Namespace, self: Process, path: string): readonly Effect[] {
  const found = findDevice(space, self, path);
  if (found === undefined || !space.mounts.isVisible(self, found.mount)) return [];
  return found.device.shownEffects?.(found.subpath) ?? [];
}

function findDevice({ devices }: Namespace, self: Process, path: string): Resolved | undefined {
  try {
    return devices.resolve(path, "Open", self.pid);
  } catch {
    return undefined;
  }
}
