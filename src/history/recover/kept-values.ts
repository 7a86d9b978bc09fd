/**
 * Named values of a process that devices keep for it: its jobs, its list of what to do. Each change is a record of its own
 * history, so they are there again after a restart, and a fork begins with those of its origin at that place.
 */
import type { KeptValues } from "../../abi/device.ts";
import { Fault } from "../../abi/errors.ts";
import type { Core } from "../../kernel/core.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Process } from "../../kernel/process/process.ts";

const NONE: ReadonlyMap<string, unknown> = new Map();

export function keptValues(core: Core, proc: Process): KeptValues {
  return {
    get: (name) => proc.kept?.get(name),
    entries: () => proc.kept ?? NONE,
    set: (name, value) => setKept(core, proc, name, value),
  };
}

/** INVALID: too large, or too many. Kept before whatever follows it. */
function setKept(core: Core, proc: Process, name: string, value: unknown): void {
  const own = proc.kept ?? new Map<string, unknown>();
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
  if (bytes > LIMITS.keptValueBytes)
    throw new Fault({
      code: "INVALID",
      message: `${name}: ${bytes} bytes; at most ${LIMITS.keptValueBytes}`,
    });
  if (value !== null && !own.has(name) && own.size >= LIMITS.keptValues)
    throw new Fault({
      code: "INVALID",
      message: `${name}: a process keeps at most ${LIMITS.keptValues} values`,
    });
  proc.kept = own;
  if (value === null) own.delete(name);
  else own.set(name, value);
  core.note(proc, "process.kept", { name, value });
}
