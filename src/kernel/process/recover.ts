/**
 * What the last daemon left. A paused agent comes back; any other process that did not come to an end is lost. A call without
 * a result is unknown, and what was set aside for it is spent. Nothing is opened or started here, so that the socket opens
 * soon: what is read is the histories of those that come back.
 */
import { messageOf } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import { type JournalDraft, type JournalRecord, KERNEL_UUID } from "../ports/journal.ts";
import { isModelCall, type SpawnedBody } from "./history.ts";
import type { Process } from "./process.ts";
import { type OpenTokens, Restoration, type Revived } from "./restore.ts";
import { runProgram } from "./run.ts";

export interface Recovery {
  readonly lost: readonly Pid[];
  /** Back, and paused. */
  readonly restored: readonly { readonly pid: Pid; readonly uuid: ProcUuid }[];
}

const LOST = { code: 137, reason: "lost", kind: "killed", result: "", tokensUsed: 0 };

/** Called once, before the socket opens. */
export async function recover(core: Core): Promise<Recovery> {
  const { journal } = core.ports;
  const [open, unfinished] = [await journal.openCalls(), await journal.unfinished()];
  const paused = pausedOf(await journal.lastSignals());
  const restoration = new Restoration(core, openTokens(open, unfinished));
  const [revived, lost]: [Revived[], JournalRecord[]] = [[], []];
  for (const record of unfinished) {
    const mayReturn = paused.has(record.proc) && (record.body as { kind?: string }).kind === "agent";
    const back = mayReturn ? await tryRevive(core, restoration, record) : undefined;
    if (back === undefined) lost.push(record);
    else revived.push(back);
  }
  await journal.append([
    bootRecord(journal.epoch, open.length === 0 && lost.length === 0),
    ...open.map(unknown),
    ...restoration.unsettled.flatMap(settled),
    ...lost.map(({ proc, pid }) => ({ proc, pid, kind: "process.exited" as const, v: 1, body: LOST })),
    ...revived.map(({ proc }) => recovered(proc, journal.epoch)),
  ]);
  for (const each of revived) begin(core, each, open);
  return {
    lost: lost.map(({ pid }) => pid),
    restored: revived.map(({ proc }) => ({ pid: proc.pid, uuid: proc.seed.uuid })),
  };
}

/** Why one does not come back is for the log: it keeps no daemon from starting. */
async function tryRevive(
  core: Core,
  restoration: Restoration,
  record: JournalRecord,
): Promise<Revived | undefined> {
  try {
    return await restoration.revive(record);
  } catch (error) {
    core.ports.log("error", `pid ${record.pid}: paused, but lost: ${messageOf(error)}`);
    return undefined;
  }
}

function begin(core: Core, { proc, timeoutMs, hadOutput }: Revived, open: readonly JournalRecord[]): void {
  runProgram(core, proc, timeoutMs);
  const unknown = open.filter((call) => call.proc === proc.seed.uuid && !isModelCall(call.body)).length;
  const words = ["brought back by a new daemon, paused"];
  if (unknown > 0)
    words.push(unknown === 1 ? "1 call has an unknown outcome" : `${unknown} calls have an unknown outcome`);
  if (hadOutput) words.push("whoever read its output is gone");
  proc.log("warn", words.join("; "), core.ports.clock.mono());
}

function pausedOf(signals: readonly JournalRecord[]): ReadonlySet<ProcUuid> {
  const left = signals.filter(({ v, body }) => v === 1 && (body as { paused?: boolean }).paused === true);
  return new Set(left.map(({ proc }) => proc));
}

function openTokens(open: readonly JournalRecord[], unfinished: readonly JournalRecord[]): OpenTokens {
  const spawned = new Map(unfinished.map(({ proc, body }) => [proc, body as Partial<SpawnedBody>]));
  const [byProcess, byLimit] = [new Map<ProcUuid, number>(), new Map<ProcUuid, number>()];
  for (const record of open) {
    const { proc } = record;
    const tokens = reservedBy(record);
    const { budget = 0, accounts = [] } = spawned.get(proc) ?? {};
    if (tokens === 0) continue;
    add(byProcess, proc, tokens);
    for (const owner of [...(budget > 0 ? [{ proc }] : []), ...accounts]) add(byLimit, owner.proc, tokens);
  }
  return { byProcess, byLimit };
}

function add(sums: Map<ProcUuid, number>, key: ProcUuid, tokens: number): void {
  sums.set(key, (sums.get(key) ?? 0) + tokens);
}

function reservedBy({ body }: JournalRecord): number {
  return (body as { reserved?: number }).reserved ?? 0;
}

function bootRecord(epoch: number, clean: boolean): JournalDraft {
  return { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "kernel.boot", v: 1, body: { epoch, clean } };
}

/** Whether it was answered, and what it cost, nobody knows: all that was set aside. */
function unknown(record: JournalRecord): JournalDraft {
  const { proc, pid, call } = record;
  const tokens = reservedBy(record);
  const body = tokens === 0 ? {} : { cost: { tokens, usd: null }, estimated: true };
  return { proc, pid, kind: "call.unknown", v: 1, ...(call === undefined ? {} : { call }), body };
}

function settled(account: Account): JournalDraft[] {
  const { owner } = account;
  if (owner === null) return [];
  return [{ ...owner, kind: "acct.settle", v: 1, body: { used: account.view().used } }];
}

function recovered({ pid, seed }: Process, epoch: number): JournalDraft {
  return { proc: seed.uuid, pid, kind: "process.recovered", v: 1, body: { epoch } };
}
