/**
 * Restores a process that is not in memory and runs it: a resting session, an ended agent, or one that an earlier
 * daemon left. It has the same pid and name, the same rights and no more, and the same account. Boot (recover.ts)
 * restores processes in the same way.
 */

import { Fault, messageOf } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import { EXIT, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Sent } from "../../abi/sys.ts";
import type { Admission } from "../../kernel/account/admission.ts";
import { NOTHING } from "../../kernel/account/amounts.ts";
import { recordedInTree } from "../../kernel/account/tree-spent.ts";
import { groupsFacet } from "../../kernel/ipc/facets.ts";
import { draftOf, type Letter, type Letters, numbered } from "../../kernel/ipc/post.ts";
import type { JournalDraft, ProcessRow } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { SessionChange } from "../../kernel/ports/sessions.ts";
import { endLive, type Finishing, graceOf } from "../../kernel/process/end/finish.ts";
import { type Reaping, reapProcess } from "../../kernel/process/end/reap.ts";
import { detachedFacet, isInBackground } from "../../kernel/process/end/report.ts";
import { ranMs, runTimeFacet } from "../../kernel/process/facets/run-time-facet.ts";
import { keptState, type SpawnedBody } from "../../kernel/process/kept-state.ts";
import { lendEnv } from "../../kernel/process/lending.ts";
import { cannotResume, readable, recalled } from "../../kernel/process/past.ts";
import type { Process } from "../../kernel/process/process.ts";
import { rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { isAbove } from "../../kernel/process/rights/narrow.ts";
import { type ModeKernel, modeDraft, setMode } from "../../kernel/process/rights/set-mode.ts";
import { recorded, type SignalKeeping } from "../../kernel/process/signal/deliver.ts";
import { letGoBelow } from "../../kernel/process/signal/let-go.ts";
import { notify } from "../../kernel/process/signal/notify.ts";
import { type Running, runProgram } from "../../kernel/process/spawn/run.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { returnFromGone } from "../../kernel/process/tree/entered.ts";
import { goneWorktree } from "../../kernel/process/tree/worktree.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { ageMs } from "./age.ts";
import { readEarly } from "./early-facts.ts";
import { readHistory, readMail } from "./history-reader.ts";
import { leave } from "./restore.ts";
import { type AgentRemains, type AgentRestoring, restoreAgent } from "./restored-agent.ts";
import { changed, recordOf, setPrompt } from "./session-change.ts";
import { accountsAtSpawn, LimitsRead, Shares, type Sharing } from "./shares.ts";

/** What waking a process needs of the kernel. */
export type Waking = AgentRestoring &
  Sharing &
  Running &
  Finishing &
  Reaping &
  SignalKeeping &
  Letters &
  ModeKernel & {
    readonly ports: Pick<KernelPorts, "onReaped" | "worktrees">;
    readonly table: Pick<ProcessTable, "takeBack" | "childrenOf">;
    readonly admission: Pick<Admission, "enter" | "check">;
    /** False: the kernel is shutting down. */
    readonly accepting: boolean;
    deliver(proc: Process, signal: Signal): Promise<unknown>;
  };

interface WakeOptions {
  /** The environment of the client; absent: the daemon's own is used until a client lends its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** From now on it waits for the next message instead of ending. */
  readonly session?: boolean;
  /** Absent: paused if it was paused before. */
  readonly paused?: boolean;
  /** Recorded with the return of an ended agent. */
  readonly message?: Message;
  /** Who has it read a message: it is one of the background from then on, and waits for its turn as a new agent does. */
  readonly by?: Pid;
  readonly change?: SessionChange;
}

const underWay = new WeakMap<Waking, Map<Pid, Promise<Process>>>();

/**
 * Returns a live process as it is; concurrent callers for the same pid share one wake. NOT_FOUND: no such process, or
 * its history was removed. CONFLICT: it cannot be restored; the message says why. UNAVAILABLE: the kernel is shutting
 * down, or the disk refuses writes.
 */
export function wake(core: Waking, pid: Pid, options: WakeOptions = {}): Promise<Process> {
  const wakes = underWay.get(core) ?? new Map<Pid, Promise<Process>>();
  underWay.set(core, wakes);
  const known = wakes.get(pid);
  if (known !== undefined) return known;
  const live = core.table.get(pid);
  if (live !== undefined && isHere(live)) return Promise.resolve(live);
  const waking = wakeOnce(core, pid, options).finally(() => wakes.delete(pid));
  wakes.set(pid, waking);
  return waking;
}

/** The process is being restored. */
export function isWaking(core: Waking, pid: Pid): boolean {
  return underWay.get(core)?.has(pid) ?? false;
}

/**
 * crux resume: resumes a paused process, wakes an ended or resting one; an agent that had completed waits for a
 * message.
 */
export async function resume(
  core: Waking,
  pid: Pid,
  env?: Readonly<Record<string, string>>,
): Promise<Process> {
  core.journalWatch.check("Resume");
  const live = core.table.get(pid);
  if (live !== undefined && isHere(live)) {
    if (env !== undefined) lendEnv(live, env);
    if (live.isPaused) {
      await recalled(live);
      const { why } = live.halt;
      await core.deliver(live, SIGNALS.SIGRESUME);
      if (why === "crash") await letGoBelow(core, live);
    }
    await recorded(core);
    return live;
  }
  const hasCompleted = (await find(core, pid)).exit?.reason === EXIT.completed.reason;
  const options = { paused: false, ...(hasCompleted ? { session: true } : {}) };
  return wake(core, pid, env === undefined ? options : { ...options, env });
}

/** An ended agent reads a message of a process above it. undefined: it is here, or is being woken by another. */
export async function resumeWith(
  core: Waking,
  pid: Pid,
  { letter, env }: { readonly letter: Letter; readonly env: Readonly<Record<string, string>> },
): Promise<Sent | undefined> {
  const known = underWay.get(core)?.get(pid);
  const live = core.table.get(pid);
  if (known === undefined && (live === undefined || !isHere(live))) {
    const message = numbered(core, pid, letter);
    await wake(core, pid, { env, message, by: letter.from, paused: false });
    return { seq: message.seq, ahead: 0 };
  }
  await known;
  return undefined;
}

function isHere(proc: Process): boolean {
  return proc.life.isHere;
}

async function wakeOnce(core: Waking, pid: Pid, options: WakeOptions): Promise<Process> {
  checkAccepting(core);
  core.journalWatch.check("Wake");
  await untilGone(core, pid, options.by);
  // its last notes may not be on disk yet
  await core.ports.journal.sync().catch(() => {});
  const row = await find(core, pid);
  const { proc: uuid } = row;
  const remains = await remainsOf(core, row, options);
  const gone = await goneWorktree(core, remains.rights);
  if (gone !== undefined)
    throw new Fault({
      code: "NOT_FOUND",
      message: `process ${pid} cannot be resumed: its worktree is gone: ${gone}`,
      hint: "start a new run; git worktree list shows those that are there",
    });
  const limits = new LimitsRead(core, accountsAtSpawn(uuid, remains.spawned));
  do await limits.read();
  while (limits.isStale);
  checkAccepting(core);
  const shares = new Shares(core, limits.keptOf);
  const semaphore = new Semaphore(1);
  const env = options.env === undefined ? {} : { env: options.env };
  const proc = restoreAgent(core, remains, { shares, semaphore, ...env });
  let lost: string | undefined;
  try {
    await recalled(proc);
    checkAccepting(core);
    lost = await returnFromGone(core, proc);
    const isTold = options.by !== undefined && !isInBackground(proc);
    if (isTold) proc.facts.change(detachedFacet, "child.detached", {});
    await core.ports.journal.append([
      ...drafts(row, remains, { ...options, isTold, epoch: core.ports.journal.epoch }),
      ...(options.change === undefined ? [] : setPrompt(core, proc, options.change)),
      ...loweredDrafts(proc, remains),
    ]);
  } catch (error) {
    leave(core, proc);
    proc.done.reject(error);
    // a resting process stays at rest; the files of an ended one are cleaned up again
    if (row.exit !== null) await core.ports.onReaped(uuid);
    throw error;
  }
  core.admission.enter(proc, { hasBegun: options.by === undefined });
  const children = core.table.takeBack(pid);
  // before its program, which may ask for them at once
  await wakeChildren(core, proc, options);
  runProgram(core, proc, 0);
  core.admission.check();
  if (lost !== undefined) await notify(core, proc, lost);
  if (proc.ending.verdict !== null) endLive(core, proc, graceOf(proc));
  for (const child of children) await settleUnder(core, child, proc);
  return proc;
}

/** As at a boot: a child is no higher than its parent, unless the user gave it its mode. */
async function settleUnder(core: Waking, child: Process, { mode }: Process): Promise<void> {
  if (!isAbove(child.mode, mode)) return;
  const { given } = (await readEarly(core.ports.journal, child.seed.uuid)).of(modeFacet) ?? {};
  if (given !== true) await setMode(core, child, { mode, by: { ...BY_KERNEL, isPerson: false } });
}

const BY_KERNEL = { principal: "kernel", client: "", uid: null } as const;

/** What its parent allows now is all that it may from now on, also where that parent is gone at the next boot. */
function loweredDrafts(proc: Process, { spawned, facts }: AgentRemains): JournalDraft[] {
  const { mode } = proc;
  const kept = facts.of(modeFacet)?.mode ?? readMode(spawned.mode);
  return isAbove(kept, mode) ? [modeDraft(proc, { mode }, BY_KERNEL)] : [];
}

/**
 * Waits until an ending process has left; reaps it if it is a zombie of the kernel, or of the process that wakes it.
 * CONFLICT: its parent must reap it.
 */
async function untilGone(core: Waking, pid: Pid, by: Pid = PID_KERNEL): Promise<void> {
  const proc = core.table.get(pid);
  if (proc === undefined) return;
  await proc.done.promise.catch(() => {});
  if (core.table.get(pid) !== proc) return;
  if (proc.ppid !== PID_KERNEL && proc.ppid !== by)
    throw cannotResume(pid, { why: `it has ended, and its parent ${proc.ppid} has not been notified yet` });
  await reapProcess(core, proc);
}

async function find(core: Waking, pid: Pid): Promise<ProcessRow> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  if (row === undefined) {
    const message = `no process ${pid}: there was none, or its history is gone`;
    throw new Fault({ code: "NOT_FOUND", message, fact: { kind: "no_history", pid } });
  }
  if (row.damagedAt !== null)
    throw cannotResume(pid, { why: `its history is damaged at record ${row.damagedAt}`, isDamaged: true });
  if (row.kind !== "agent")
    throw cannotResume(pid, { why: `only agents come back, and it was a ${row.kind}` });
  return row;
}

async function remainsOf(
  core: Waking,
  row: ProcessRow,
  { session, paused, message, change }: WakeOptions,
): Promise<AgentRemains> {
  const { journal } = core.ports;
  const { pid, proc: uuid } = row;
  const [spawnedRecord] = await journal.ofKind(uuid, "process.spawned");
  const stateRecord = (await journal.ofKind(uuid, "process.state")).at(-1);
  if (spawnedRecord === undefined || stateRecord === undefined)
    throw cannotResume(pid, {
      why: "too little of it was recorded, or a supervisor decides what becomes of it",
    });
  const spawned = spawnedRecord.body as SpawnedBody;
  const [kept, history] = await readable(pid, async () => [
    keptState(stateRecord),
    await readHistory(journal, uuid),
  ]);
  const mail = await readable(pid, () => readMail(journal, history));
  const whole = change === undefined ? kept : changed(core, kept, change);
  return {
    owner: { proc: uuid, pid },
    spawned,
    rights: rightsOf(spawned),
    kept: { ...whole, ...(session === true ? { isSession: true } : {}) },
    mail: message === undefined ? mail : [...mail, message],
    // an ended process has left its groups
    groups: row.exit === null ? [...history.of(groupsFacet).values()] : [],
    tokensUsed: row.tokensUsed,
    microUsdUsed: row.microUsdUsed,
    spentInTree: (await recordedInTree(journal, pid)).get(pid) ?? NOTHING,
    ranMs: ranMs(history.of(runTimeFacet)),
    ageMs: ageMs(spawned, row),
    facts: await readEarly(journal, uuid),
    isPaused: paused ?? (row.exit === null && row.isPaused),
  };
}

/** The records of a wake, synced before the program begins. */
function drafts(
  row: ProcessRow,
  remains: AgentRemains,
  {
    session,
    message,
    change,
    isTold,
    epoch,
  }: WakeOptions & { readonly isTold: boolean; readonly epoch: number },
): JournalDraft[] {
  const { owner, kept, isPaused, ranMs } = remains;
  const becomes = session === true && !row.isSession;
  const body = { epoch, resumed: true, ...(becomes ? { isSession: true } : {}) };
  const all: JournalDraft[] = [{ ...owner, kind: "process.recovered", v: 1, body }];
  if (isTold) all.push({ ...owner, kind: "child.detached", v: 1, body: {} });
  if (message !== undefined) all.push(draftOf({ pid: owner.pid, seed: { uuid: owner.proc } }, message));
  if (becomes || change !== undefined)
    all.push({ ...owner, kind: "process.state", v: 2, body: recordOf(kept, change ?? {}) });
  if (isPaused === row.isPaused) return all;
  const signal = isPaused ? SIGNALS.SIGPAUSE : SIGNALS.SIGRESUME;
  const told = { signal, disposition: "default", paused: isPaused, ranMs: Math.round(ranMs) };
  return [...all, { ...owner, kind: "signal", v: 1, body: told }];
}

/**
 * Children rest and wake together with their parent. A child that cannot be restored is reported in the parent's log.
 */
async function wakeChildren(core: Waking, parent: Process, { env }: WakeOptions): Promise<void> {
  const warn = (who: string) => (error: unknown) =>
    parent.log("warn", `${who} did not come back: ${messageOf(error)}`, core.ports.clock.mono());
  const rows = await core.ports.journal.rows({ live: true }).catch(warn("its children"));
  for (const { pid, ppid, kind } of rows ?? [])
    if (ppid === parent.pid && kind === "agent" && core.table.get(pid) === undefined)
      await wake(core, pid, env === undefined ? {} : { env }).catch(warn(`its child ${pid}`));
}

function checkAccepting({ accepting }: Waking): void {
  if (!accepting) throw new Fault({ code: "UNAVAILABLE", message: "the kernel is shutting down" });
}
