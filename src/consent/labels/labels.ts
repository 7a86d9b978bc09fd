/** The labels of a process for the user: listing and removing them. */

import { Fault } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { labelsFacet } from "../../kernel/labels/facet.ts";
import { withoutLabels } from "../../kernel/labels/label-set.ts";
import type { JournalHold } from "../../kernel/ports/journal-hold.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";

/** What these functions need of the kernel. */
/** What showing and removing labels needs of the kernel. */
export interface Labelling {
  readonly ports: Pick<KernelPorts, "clock" | "journal">;
  readonly table: Pick<ProcessTable, "require">;
  readonly sessions: { isHere(pid: Pid): boolean; awake(pid: Pid): Promise<unknown> };
  readonly journalWatch: Pick<JournalHold<never>, "check">;
}

/** The body of `label.clear`, version 1. */
interface LabelClearBody {
  readonly which: string;
  readonly by: GrantBy;
}

export async function labelsOf(core: Labelling, pid: Pid): Promise<readonly Label[]> {
  return (await found(core, pid)).labels;
}

/**
 * The user declares these sources trusted. Returns the remaining labels once synced. NOT_FOUND: no such process or
 * label.
 */
export async function clearLabels(
  core: Labelling,
  pid: Pid,
  body: LabelClearBody,
): Promise<readonly Label[]> {
  const { which } = body;
  core.journalWatch.check("Label");
  const proc = await found(core, pid);
  if (withoutLabels(proc.labels, which).length === proc.labels.length) throw noSuchLabel(proc, which);
  await core.ports.journal.append([{ proc: proc.seed.uuid, pid: proc.pid, kind: "label.clear", v: 1, body }]);
  // what came meanwhile from the same place is new
  proc.facts.change(labelsFacet, "label.clear", body);
  proc.log("warn", `labels removed by the user: ${which}`, core.ports.clock.mono());
  return proc.labels;
}

async function found(core: Labelling, pid: Pid): Promise<Process> {
  if (!core.sessions.isHere(pid)) await core.sessions.awake(pid);
  const proc = core.table.require(PID_KERNEL, pid, "Label", "see");
  await proc.past.recall();
  return proc;
}

function noSuchLabel({ pid, labels }: Process, which: string): Fault {
  const message = `process ${pid} has no label of ${which.slice(0, 200)}`;
  const names = [...new Set(labels.map(({ source }) => source))].join(", ");
  const hint = names === "" ? "it has none" : `it has labels of: ${names}; all takes them all`;
  return new Fault({ code: "NOT_FOUND", message, hint });
}
