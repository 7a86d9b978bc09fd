/** Which devices a process may open, and how a child's list is made: it only narrows. */
import { isWithin } from "../../lib/path.ts";
import type { Process } from "./process.ts";

/** Programs, its own outputs and its own model are always in; what programs open is checked again. */
const ALWAYS = ["/bin", "/var/out"];

export function narrowedTo(self: Process, mount: string, path: string): boolean {
  const { allowedDevices } = self.seed;
  if (allowedDevices === null || ALWAYS.some((base) => isWithin(base, mount))) return true;
  if (isWithin(self.modelDevice === "" ? "\0" : self.modelDevice, mount)) return true;
  if (self.mounts?.has(mount) === true) return true;
  if (isWithin("/proc/self", path) || isWithin(`/proc/${self.pid}`, path)) return true;
  return allowedDevices.some((allowed) => isWithin(allowed, mount));
}

/** What a process may hand on: its list, and its own mounts. null: no restriction. */
export function devicesOf({ seed, mounts }: Process): readonly string[] | null {
  return seed.allowedDevices === null ? null : [...seed.allowedDevices, ...(mounts ?? [])];
}

/** The child's wish ∩ what the parent may. null: no restriction. */
export function intersect(
  parent: readonly string[] | null,
  wish: readonly string[] | null,
): readonly string[] | null {
  if (parent === null) return wish;
  if (wish === null) return parent;
  const narrower = wish.filter((path) => parent.some((allowed) => isWithin(allowed, path)));
  const kept = parent.filter((path) => wish.some((allowed) => isWithin(allowed, path)));
  return [...new Set([...narrower, ...kept])].sort();
}
