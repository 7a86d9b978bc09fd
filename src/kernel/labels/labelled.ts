/**
 * The labels of a process: the union over all that it has read. They only grow, until the user removes one; after a
 * rewind to before a read, that read does not count. Labels are journalled before any of the data read.
 */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ProcessState } from "../../abi/process.ts";
import type { Facts } from "../facts/facet.ts";
import { labelsFacet } from "./facet.ts";

/** The body of `label.add`, version 1: the labels to add. */
interface LabelAddBody {
  readonly labels: readonly Label[];
}

/** Journals the new labels. */
export interface LabelKeeper {
  note(proc: Labelled, kind: "label.add", body: unknown): void;
}

export interface Labelled {
  readonly pid: Pid;
  readonly state: ProcessState;
  readonly labels: readonly Label[];
  readonly facts: Pick<Facts, "change">;
}

/** Called before the process reads data with these labels. The kernel reads for the user and gets none. */
export function addLabels(keeper: LabelKeeper, proc: Labelled, labels: readonly Label[]): void {
  if (labels.length === 0 || proc.pid === PID_KERNEL) return;
  const body: LabelAddBody = { labels };
  const before = proc.labels;
  // a process that is being spawned has its labels in the record of the spawn
  if (proc.facts.change(labelsFacet, "label.add", body) !== before && proc.state === "running")
    keeper.note(proc, "label.add", body);
}
