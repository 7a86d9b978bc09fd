/** What the model sees of a process that runs, rests or has ended: read from its history. */

import type { ContextStat } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import { gaugeFacet } from "../../kernel/context/gauge-facet.ts";
import { statOf, UNMEASURED } from "../../kernel/context/stat.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import type { StatWish } from "../../kernel/ports/view-control.ts";
import { chosenModelFacet } from "../../kernel/process/chosen-model.ts";
import { answeringFacet } from "../../kernel/process/facets/answering-facet.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import type { History } from "../recover/history.ts";
import { readHistory, readView } from "../recover/history-reader.ts";

export type Source = Pick<Journal, "ofKind" | "processOf" | "read" | "readAt" | "row" | "snapshot" | "sync">;

/** NOT_FOUND: no such process. INVALID: it talks to no model. */
export async function contextStat(journal: Source, pid: Pid, wish: StatWish = {}): Promise<ContextStat> {
  // includes the newest records of a live process; if the disk refuses, what is there can still be read
  await journal.sync().catch(() => {});
  const uuid = pid === PID_KERNEL ? undefined : await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  if (uuid === undefined || row === undefined) {
    const fact = { kind: "no_history", pid } as const;
    throw new Fault({ code: "NOT_FOUND", message: `process not found: ${pid}`, fact });
  }
  if (row.kind !== "agent")
    throw new Fault({ code: "INVALID", message: `process ${pid} is a ${row.kind}: it has no context` });
  const history = await readHistory(journal, uuid);
  const { gauge, moves } = history.of(gaugeFacet);
  const counted = wish.isBrief === true ? (gauge?.reported?.records ?? 0) : 0;
  const { views, messages, numbers, shown } = await readView(journal, history, counted);
  // a model whose window is not known is not measured
  const isAsked = gauge === null && messages.some(({ role }) => role === "assistant");
  const asked = isAsked ? await modelOf(journal, uuid, history) : {};
  const chosen = history.of(chosenModelFacet);
  // it answers next, whoever answered before
  const next = chosen === null || chosen.model === "" ? {} : { device: chosen.device, model: chosen.model };
  const { parts, ...stat } = statOf({
    gauge: { ...(gauge ?? { ...UNMEASURED, ...asked }), ...next },
    moves,
    views,
    messages,
    numbers,
  });
  const model = stat.model === "" && chosen === null ? history.of(answeringFacet) : stat.model;
  return { ...stat, model, shown, ...(wish.isBrief === true ? {} : { parts }) };
}

async function modelOf(journal: Source, uuid: ProcUuid, history: History): Promise<Partial<ModelPlace>> {
  const chosen = history.of(chosenModelFacet);
  if (chosen !== null) return { device: chosen.device, model: chosen.model };
  const [spawned] = await journal.ofKind(uuid, "process.spawned");
  const { modelDevice, model } = (spawned?.body ?? {}) as Partial<SpawnedBody>;
  return modelDevice === undefined || model === undefined ? {} : { device: modelDevice, model };
}
