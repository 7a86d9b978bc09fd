/**
 * A program under /bin that shows a file of Crux's own tree declares its path alone; what reading it does is known to the device
 * behind the path, and is judged, asked and labelled as if the program had said it.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Process } from "../process/process.ts";
import type { Mounts } from "../vfs/mounts.ts";
import type { DeviceRegistry, Resolved } from "../vfs/registry.ts";

/** Where a path leads, and for whom. */
interface Namespace {
  readonly mounts: Pick<Mounts, "isVisible">;
  readonly devices: Pick<DeviceRegistry, "resolve">;
}

export function withShown(space: Namespace, self: Process, effects: readonly Effect[]): readonly Effect[] {
  return effects.flatMap((effect) =>
    effect.kind === "state" ? [effect, ...shownAt(space, self, effect.path)] : [effect],
  );
}

/** Nothing where nothing is, or nothing to be seen: opening it fails. */
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
