/** The share of a process of the models that others wait for too, relative to theirs. Only the user changes it. */
import { Fault } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { WEIGHT } from "../../abi/lanes.ts";
import { type LiveFacet, plainFacet } from "../facts/facet.ts";
import { type Noting, notable } from "./note.ts";

export const weightFacet: LiveFacet<number> = plainFacet("weight", {
  init: WEIGHT.usual as number,
  folds: { "process.weight": (_now, { weight }) => Number(weight) },
  fork: (origin) => origin,
  isHeld: true,
});

/** Resolves once it is synced. NOT_FOUND: no such process. CONFLICT: it has ended. INVALID: not a weight. */
export async function renice(
  core: Noting,
  pid: Pid,
  { weight, by }: { readonly weight: number; readonly by: GrantBy },
): Promise<void> {
  const { min, max } = WEIGHT;
  if (pid === PID_KERNEL || !Number.isInteger(weight) || weight < min || weight > max)
    throw new Fault({ code: "INVALID", message: `a weight is a whole number from ${min} to ${max}` });
  const proc = await notable(core, pid, { syscall: "Renice", what: "weight" });
  const body = { weight, by };
  await core.ports.journal.append([{ proc: proc.seed.uuid, pid, kind: "process.weight", v: 1, body }]);
  proc.facts.change(weightFacet, "process.weight", body);
}
