/** Finds the record at which a fork begins from the point that the user named, or explains what is wrong with it. */
import type { ProcUuid } from "../../abi/ids.ts";
import type { ForkPoint, StepView } from "../../kernel/ports/forks.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { forkError } from "./fork-error.ts";
import { recordsOfLineage } from "./lineage.ts";
import { Steps } from "./steps.ts";

export interface ResolvedPoint {
  readonly proc: ProcUuid;
  readonly seq: number;
  /** The step that ends at this record; null: none does. */
  readonly step: number | null;
}

export async function stepsOf(journal: Journal, uuid: ProcUuid): Promise<Steps> {
  const steps = new Steps();
  for await (const record of recordsOfLineage(journal, uuid)) steps.take(record);
  return steps;
}

interface Wish {
  readonly at: ForkPoint | undefined;
  /** The step to take where `at` is undefined; absent: the last complete one. */
  readonly otherwise?: "last" | "before the last message";
}

export async function findPlace(
  journal: Journal,
  uuid: ProcUuid,
  { at, otherwise = "last" }: Wish,
): Promise<ResolvedPoint> {
  if (at !== undefined && "seq" in at) return atSeq(journal, uuid, at.seq);
  const steps = await stepsOf(journal, uuid);
  const { complete, beforeLastMessage } = steps;
  const wanted =
    at?.step ??
    (otherwise === "last" ? complete.at(-1)?.step : Math.min(beforeLastMessage, complete.at(-1)?.step ?? 0));
  const found = complete.find(({ step }) => step === wanted);
  if (found !== undefined) return { proc: found.proc, seq: found.seq, step: found.step };
  if (complete.length === 0 || (wanted === 0 && complete[0]?.step !== 0))
    throw forkError("INVALID", "nothing was said to it before that: there is nothing to go back to");
  throw forkError("NOT_FOUND", `it has no complete step ${wanted}`, `steps: ${rangeOf(complete)}`);
}

async function atSeq(journal: Journal, uuid: ProcUuid, seq: number): Promise<ResolvedPoint> {
  const row = await journal.row(uuid);
  if (seq < 1) throw forkError("INVALID", `not a record: seq ${seq}; the first is 1`);
  if (row !== undefined && seq > row.lastSeq)
    throw forkError("NOT_FOUND", `its history has no record ${seq}; the last is ${row.lastSeq}`);
  const steps = new Steps();
  let there: { isAtRest: boolean } | undefined;
  for await (const record of recordsOfLineage(journal, uuid)) {
    steps.take(record);
    if (record.proc === uuid && record.seq === seq) there = { isAtRest: steps.isAtRest };
  }
  const near = nearest(steps.complete, uuid, seq);
  if (there?.isAtRest === true && seq >= (await firstOwn(journal, uuid))) {
    const step = steps.complete.find((each) => each.proc === uuid && each.seq === seq);
    return { proc: uuid, seq, step: step?.step ?? null };
  }
  throw forkError("INVALID", `record ${seq} lies inside a call, or before the first message`, near);
}

/** The first seq at which a fork may begin: the spawn and state records before it define what the process is. */
async function firstOwn(journal: Journal, uuid: ProcUuid): Promise<number> {
  const [spawned, state] = [
    await journal.ofKind(uuid, "process.spawned"),
    await journal.ofKind(uuid, "process.state"),
  ];
  return Math.max(spawned[0]?.seq ?? 1, state[0]?.seq ?? 1);
}

function nearest(steps: readonly StepView[], uuid: ProcUuid, seq: number): string {
  const own = steps.filter(({ proc }) => proc === uuid);
  const near = [own.findLast((step) => step.seq < seq), own.find((step) => step.seq > seq)];
  const words = near.flatMap((step) => (step === undefined ? [] : [`step ${step.step} (seq:${step.seq})`]));
  return words.length === 0 ? "it has no complete step" : `nearest: ${words.join(", ")}`;
}

function rangeOf(steps: readonly StepView[]): string {
  const [first, last] = [steps[0], steps.at(-1)];
  return first === last ? `${first?.step}` : `${first?.step} to ${last?.step}`;
}
