/** What the model sees of a process, for the user: shown from the journal, and changed by the program of the process. */

import type { ViewOutcome, ViewRequest } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import type { JournalHold } from "../../kernel/ports/journal-hold.ts";
import type { Sessions } from "../../kernel/ports/sessions.ts";
import type { AskOptions, ViewControl } from "../../kernel/ports/view-control.ts";
import { memoryOffFacet } from "../../kernel/process/memory-off.ts";
import type { Process } from "../../kernel/process/process.ts";
import { askForView } from "../../kernel/process/view-requests.ts";
import { contextStat, type Source } from "./stat.ts";

/** What this needs of the kernel. */
interface Viewing {
  readonly ports: { readonly journal: Source & Pick<Journal, "append"> };
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  readonly sessions: Pick<Sessions, "awake"> & { isHere(pid: Pid): boolean };
  readonly table: { get(pid: Pid): Process | undefined };
  idle(proc: Process): void;
}

export function makeViewControl(core: () => Viewing): ViewControl {
  return {
    stat: (pid, wish) => contextStat(core().ports.journal, pid, wish),
    ask: (pid, request, options) => ask(core(), pid, { request, ...options }),
  };
}

interface Wish extends AskOptions {
  readonly request: ViewRequest;
}

async function ask(
  core: Viewing,
  pid: Pid,
  { request, env, signal }: Wish,
): Promise<Extract<ViewOutcome, { ok: true }>> {
  core.journalWatch.check("Context");
  if (pid !== PID_KERNEL && !core.sessions.isHere(pid))
    await core.sessions.awake(pid, env === undefined ? {} : { env });
  const proc = core.table.get(pid) ?? (await refuseGone(core, pid));
  checkReady(proc);
  // closed before its program knows of it, and opened after
  if (request.op === "memory" && !request.on) await setMemory(core, proc, true);
  const outcome = await askForView(proc, request, signal);
  if (request.op === "memory" && request.on && outcome.ok) await setMemory(core, proc, false);
  // the move is recorded before the client is told of it
  await core.ports.journal.sync();
  core.idle(proc);
  if (outcome.ok) return outcome;
  const { code, message, hint } = outcome;
  throw new Fault({ code, message, ...(hint === undefined ? {} : { hint }) });
}

async function setMemory({ ports }: Viewing, proc: Process, off: boolean): Promise<void> {
  const { pid, seed, facts } = proc;
  const body = { off };
  await ports.journal.append([{ proc: seed.uuid, pid, kind: "process.memory", v: 1, body }]);
  facts.change(memoryOffFacet, "process.memory", body);
}

/** CONFLICT: its program will not come to a place between two steps. */
function checkReady(proc: Process): void {
  const { pid, seed, isLive, isPaused, halt } = proc;
  if (seed.kind !== "agent")
    throw new Fault({ code: "INVALID", message: `process ${pid} is a ${seed.kind}: it has no context` });
  if (!isLive) throw conflict(pid, "ended", "has ended: its context cannot change any more");
  if (isPaused) throw conflict(pid, "paused", "is paused");
  if (halt.openAsks > 0)
    throw new Fault({ code: "CONFLICT", message: `process ${pid} waits for an answer of yours first` });
}

async function refuseGone({ ports }: Viewing, pid: Pid): Promise<never> {
  if (pid !== PID_KERNEL && (await ports.journal.processOf(pid)) !== undefined)
    throw conflict(pid, "ended", "has ended: its context cannot change any more");
  const fact = { kind: "no_history", pid } as const;
  throw new Fault({ code: "NOT_FOUND", message: `process not found: ${pid}`, fact });
}

function conflict(pid: Pid, kind: "ended" | "paused", words: string): Fault {
  return new Fault({ code: "CONFLICT", message: `process ${pid} ${words}`, fact: { kind, pid } });
}
