/**
 * The labels of a process: the union over what it has read. They only grow, until a person takes one away; a rewind to before
 * a read has not read it. Journalled before anything of what was read can be.
 */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ProcessState } from "../../abi/process.ts";
import type { Facts } from "../facts/facet.ts";
import { labelsFacet } from "./facet.ts";

/** The body of `label.add`, version 1: those that are new. */
interface LabelAddBody {
  readonly labels: readonly Label[];
}

/** Who keeps that it has labels. */
export interface LabelKeeper {
  note(proc: Labelled, kind: "label.add", body: unknown): void;
}

export interface Labelled {
  readonly pid: Pid;
  readonly state: ProcessState;
  readonly labels: readonly Label[];
  readonly facts: Pick<Facts, "change">;
}

/** It is about to read what comes from there. The kernel itself reads for persons. */
export function addLabels(keeper: LabelKeeper, proc: Labelled, labels: readonly Label[]): void {
  if (labels.length === 0 || proc.pid === PID_KERNEL) return;
  const body: LabelAddBody = { labels };
  const before = proc.labels;
  // one that is being made says them in the record of its spawn
  if (proc.facts.change(labelsFacet, "label.add", body) !== before && proc.state === "running")
    keeper.note(proc, "label.add", body);
}
