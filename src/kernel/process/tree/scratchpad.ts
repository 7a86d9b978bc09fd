/**
 * The scratchpad of a session: a folder that all of its agents read and write without asking. A coordinator or the lead of a
 * team has one made, and a setting has one made for every session.
 */
import { COORDINATOR, TEAM } from "../../../abi/child.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { keptOf } from "../kept-values.ts";
import type { Process } from "../process.ts";

/** Real path; null: its session has none. */
export function scratchpadOf(
  { scratchpads }: Pick<KernelPorts, "scratchpads">,
  self: Process,
): string | null {
  const { session, scratch, kind, body } = self.seed;
  if (scratchpads === undefined || session.owner === null || scratch === "") return null;
  if (typeof session.scratchpad === "string") return session.scratchpad;
  const isNew = session.scratchpad === undefined;
  const isOn =
    body.name === COORDINATOR ||
    keptOf(self).has(TEAM) ||
    (isNew && kind === "agent" && scratchpads.isForAll());
  const { proc } = session.owner;
  // one of an earlier daemon is used again
  if (isOn || isNew) session.scratchpad = isOn ? scratchpads.open(proc) : scratchpads.find(proc);
  return session.scratchpad ?? null;
}
