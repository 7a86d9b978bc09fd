/** A substitute in memory, for a caller without kept values. */
import type { KeptValues } from "../abi/device.ts";

export function keptInMemory(): KeptValues {
  const values = new Map<string, unknown>();
  return {
    get: (name) => values.get(name),
    entries: () => values,
    set: (name, value) => void (value === null ? values.delete(name) : values.set(name, value)),
  };
}
