/**
 * Named values that devices store for a process, such as its jobs and its to-do list. Each change is a record in the
 * process's history, so the values survive a restart, and a fork begins with those of its origin at the fork.
 */
import { TEAM } from "../../abi/child.ts";
import type { KeptValues } from "../../abi/device.ts";
import { Fault } from "../../abi/errors.ts";
import type { Facet } from "../facts/facet.ts";
import type { Ref } from "../facts/refs.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "./process.ts";

/** The body of `process.kept`; a null `value` removes the name. */
interface KeptValue {
  readonly name: string;
  readonly value: unknown;
}

/** Journals the values that devices keep for a process. */
export interface ValueKeeping {
  note(proc: Process, kind: "process.kept", body: KeptValue): void;
}

/** The place of each value's newest record, in the order in which the names were first set. */
export const keptFacet: Facet<Map<string, Ref>> = {
  init: () => new Map(),
  folds: {
    "process.kept": (now, { name, value }, { proc, seq }) => {
      if (value === null) now.delete(String(name));
      else now.set(String(name), { proc, seq });
      return now;
    },
  },
  pack: (now) => (now.size === 0 ? {} : { kept: [...now] }),
  unpack: ({ kept }) => new Map((kept ?? []) as [string, Ref][]),
  // a team has one lead, and its members are children of that one
  fork: (origin) => new Map([...origin].filter(([name]) => name !== TEAM)),
};

const KEPT = new WeakMap<Process, Map<string, unknown>>();
const NONE: ReadonlyMap<string, unknown> = new Map();

export function keptOf(proc: Process): ReadonlyMap<string, unknown> {
  return KEPT.get(proc) ?? NONE;
}

/** Sets the values of a restored process. */
export function adoptKept(proc: Process, kept: ReadonlyMap<string, unknown>): void {
  if (kept.size > 0) KEPT.set(proc, new Map(kept));
}

export function keptValues(core: ValueKeeping, proc: Process): KeptValues {
  return {
    get: (name) => keptOf(proc).get(name),
    entries: () => keptOf(proc),
    set: (name, value) => setKept(core, proc, { name, value }),
  };
}

/** INVALID: the value is too large, or there are too many. The record precedes every later record of the process. */
function setKept(core: ValueKeeping, proc: Process, { name, value }: KeptValue): void {
  const own = KEPT.get(proc) ?? new Map<string, unknown>();
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
  KEPT.set(proc, own);
  if (value === null) own.delete(name);
  else own.set(name, value);
  core.note(proc, "process.kept", { name, value } satisfies KeptValue);
}
