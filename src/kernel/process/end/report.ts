/**
 * What the parent of a background child is told when that ends: one message, recorded together with the exit, so that it is
 * neither lost nor told twice. A child that is waited for tells nothing; it becomes one of the background by `detach`.
 */
import { agentIdOf, noticeText } from "../../../abi/child.ts";
import { Fault } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import { type ExitStatus, SIGNALS, type Signal } from "../../../abi/process.ts";
import { type LiveFacet, plainFacet } from "../../facts/facet.ts";
import { type Letters, letterTo } from "../../ipc/post.ts";
import { LIMITS } from "../../limits.ts";
import type { Journal, JournalDraft } from "../../ports/journal.ts";
import { type Redacting, redactedBytes } from "../../redact/model-bound.ts";
import { type Noting, notable } from "../note.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { treeOf } from "../tree/worktree.ts";

/** Nobody waits for the child any more. */
export const detachedFacet: LiveFacet<boolean> = plainFacet("detached", {
  init: false,
  folds: { "child.detached": () => true },
  isHeld: true,
});

export function isInBackground({ seed: { child }, facts }: Process): boolean {
  return child !== undefined && (child.isBackground === true || facts.of(detachedFacet));
}

/** Called when nobody waits for a process any more, until the returned function is called. */
const LISTENERS = new WeakMap<Process, Set<() => void>>();

export function onDetach(proc: Process, told: () => void): () => void {
  const listeners = LISTENERS.get(proc) ?? new Set();
  LISTENERS.set(proc, listeners.add(told));
  return () => void listeners.delete(told);
}

interface Detaching {
  readonly ports: { readonly journal: Pick<Journal, "append"> };
}

/** False: it has ended, and whoever waits for it gets its end; or no call started it. Resolves once it is recorded. */
export async function detach({ ports: { journal } }: Detaching, proc: Process): Promise<boolean> {
  if (proc.seed.child === undefined) return false;
  // the record of an exit without a notice is on its way: the exit was first
  if (proc.life.now.is !== "running") {
    await proc.done.promise;
    return false;
  }
  if (!isInBackground(proc)) {
    proc.facts.change(detachedFacet, "child.detached", {});
    await journal.append([{ proc: proc.seed.uuid, pid: proc.pid, kind: "child.detached", v: 1, body: {} }]);
  }
  for (const told of LISTENERS.get(proc) ?? []) told();
  return true;
}

interface HandingOver extends Omit<Noting, "table"> {
  readonly ports: Noting["ports"] & Detaching["ports"];
  readonly table: Pick<ProcessTable, "get" | "childrenOf">;
}

/**
 * The user's wish: nobody waits any more for this child or, where no call started the process, for its children. Which ones
 * go on in the background by that, once it is recorded. NOT_FOUND: no such process; CONFLICT: it has ended, or no call waits.
 */
export async function handOver(core: HandingOver, pid: Pid): Promise<readonly Pid[]> {
  const proc = await notable(core, pid, { syscall: "Detach", what: "place in the background" });
  const meant = proc.seed.child === undefined ? core.table.childrenOf(pid) : [proc];
  const waited = meant.filter((each) => each.seed.child !== undefined && !isInBackground(each));
  const areOver = await Promise.all(waited.map((each) => detach(core, each)));
  const handed = waited.filter((_, i) => areOver[i] === true).map((each) => each.pid);
  if (handed.length > 0) return handed;
  const whom = proc.seed.child === undefined ? "an agent below process" : "process";
  throw new Fault({ code: "CONFLICT", message: `no call waits for ${whom} ${pid}` });
}

/** Whose ends are nobody's news. */
const UNTOLD = new WeakSet<Process>();

interface EndingAgents {
  readonly table: Pick<ProcessTable, "childrenOf">;
  deliver(proc: Process, signal: Signal, graceMs: number): Promise<unknown>;
}

/** Ends the agents that work for a process in the background, with all below them; it is told nothing of their ends. */
export function endAgents(core: EndingAgents, pid: Pid): void {
  for (const child of core.table.childrenOf(pid)) {
    if (!child.isLive || !isInBackground(child)) continue;
    UNTOLD.add(child);
    void core.deliver(child, SIGNALS.SIGTERM, LIMITS.orphanGraceMs);
  }
}

/** Nobody waits for the process, nor is told of its end: who reaps it does not matter. */
export function isUntold(proc: Process): boolean {
  return UNTOLD.has(proc);
}

interface Reporting extends Letters, Redacting {
  readonly ports: Letters["ports"] & Redacting["ports"];
  readonly table: Pick<ProcessTable, "get">;
}

/** A message that is recorded with the exit. */
interface Report {
  readonly draft: JournalDraft;
  /** Called once it is recorded. */
  deliver(): void;
  /** It could not be recorded. */
  drop(): void;
}

/** For the end of a process: how many tools it called. */
export function usesOf({ used: { toolCalls } }: Process): { readonly toolUses?: number } {
  return toolCalls === 0 ? {} : { toolUses: toolCalls };
}

/** null: nobody is to be told. */
export function reportOf(core: Reporting, proc: Process, exit: ExitStatus): Report | null {
  const parent = core.table.get(proc.ppid);
  const { child, uuid } = proc.seed;
  if (child === undefined || parent?.isLive !== true || !isInBackground(proc) || isUntold(proc)) return null;
  const text = noticeText(child, {
    agentId: agentIdOf(uuid),
    exit,
    result: proc.result,
    tokensUsed: proc.used.tokens,
    ...usesOf(proc),
    elapsedMs: proc.elapsedMs(core.ports.clock.mono()),
    ...treeOf(proc),
  });
  const data = redactedBytes(core, parent, new TextEncoder().encode(text));
  const labels = proc.labels.length === 0 ? undefined : proc.labels;
  return letterTo(core, parent, { from: proc.pid, data, labels, notice: proc.pid });
}
