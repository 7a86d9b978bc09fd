/**
 * The context and facts of a restored process are read when they are first needed: when it resumes, or a client looks
 * at it. Meanwhile its history is marked with an intent without a result: if reading it crashes the daemon, the next
 * daemon recognises the process by this mark.
 */

import { asCallId } from "../../abi/ids.ts";
import { type PermissionMode, SIGNALS, type Signal } from "../../abi/process.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { spentFacet } from "../../kernel/account/facet.ts";
import { contextFacet } from "../../kernel/context/facet.ts";
import type { ContextSpaces } from "../../kernel/context/spaces.ts";
import { LOADING } from "../../kernel/facts/intents.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Journal, JournalDraft } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { circuitFacet } from "../../kernel/process/circuit.ts";
import { denialsFacet } from "../../kernel/process/denials.ts";
import { answeringFacet } from "../../kernel/process/facets/answering-facet.ts";
import { asksFacet } from "../../kernel/process/facets/asks-facet.ts";
import { adoptKept } from "../../kernel/process/kept-values.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type Judging, recheckAuto } from "../../kernel/process/rights/auto-mode.ts";
import type { Session } from "../../kernel/process/session.ts";
import type { Semaphore } from "../../lib/semaphore.ts";
import { HELD_LATE } from "./facets.ts";
import type { History } from "./history.ts";
import { type Contents, readContents, readHistory, readLines } from "./history-reader.ts";

/** What reading a history into its process needs of the kernel. */
export type Recalling = Judging & {
  readonly ports: Pick<KernelPorts, "journal" | "nonce">;
  readonly contexts: ContextSpaces;
  readonly grants: {
    load(session: Session): Promise<void>;
    ceiling(proc: Process): PermissionMode;
  };
  readonly asks: { leftOpen(proc: Process, kept: ReturnType<(typeof asksFacet)["init"]>): void };
};

export interface Recall {
  /** Limits how many histories are read at once. */
  readonly semaphore: Semaphore;
  /** Called with the history before it is applied to the process. */
  readonly onHistory?: (proc: Process, history: History) => void;
  /** Recorded once it is read. */
  readonly onRead?: (proc: Process) => readonly JournalDraft[];
}

export function recallWith(
  core: Recalling,
  proc: Process,
  { semaphore, onHistory, onRead = () => [] }: Recall,
): () => Promise<void> {
  let underWay: Promise<void> | null = null;
  return () => {
    underWay ??= semaphore
      .pass(() => marked(core, proc, { read: () => fill(core, proc, onHistory), onRead }))
      .finally(() => {
        underWay = null;
      });
    return underWay;
  };
}

/** Reads the history that a daemon stopped in once the others were served for a while, and lets its process go on. */
export async function readPutOff(
  core: {
    readonly ports: Pick<KernelPorts, "clock">;
    deliver(proc: Process, signal: Signal): Promise<unknown>;
  },
  proc: Process,
  alone: Semaphore,
): Promise<void> {
  const { signal } = proc.abort;
  try {
    await core.ports.clock.sleep(LIMITS.putOffMs, signal);
    await alone.pass(() => proc.past.recall());
  } catch {
    // one that cannot be read says so when it goes on
    if (signal.aborted) return;
  }
  // the user may have paused it meanwhile
  if (proc.halt.why === "crash") await core.deliver(proc, SIGNALS.SIGRESUME).catch(() => {});
}

interface Marked extends Required<Pick<Recall, "onRead">> {
  readonly read: () => Promise<void>;
}

async function marked(core: Recalling, proc: Process, { read, onRead }: Marked): Promise<void> {
  if (!proc.past.isUnread) return;
  const { journal } = core.ports;
  const own = { proc: proc.seed.uuid, pid: proc.pid, v: 1, call: asCallId(`c_${core.ports.nonce()}`) };
  await journal.append([{ ...own, kind: "call.intent", body: LOADING }]);
  let isRead = false;
  try {
    await read();
    isRead = true;
  } finally {
    journal.note([{ ...own, kind: "call.result", body: { ok: isRead } }, ...(isRead ? onRead(proc) : [])]);
  }
}

async function fill(core: Recalling, proc: Process, onHistory: Recall["onHistory"]): Promise<void> {
  const { journal } = core.ports;
  const { uuid, session } = proc.seed;
  const history = await readHistory(journal, uuid);
  const contents = await readContents(journal, history);
  const { messages, restored, kept, seen } = contents;
  const lines = await readLines(journal, history);
  await core.grants.load(session);
  // the process was reaped meanwhile
  if (!core.contexts.has(proc.ctxId)) return;
  fillContext(core, proc, contents);
  // a mode that the user granted lasts as long as the grant
  proc.dial.cap(core.grants.ceiling(proc));
  onHistory?.(proc, history);
  proc.facts.adopt(HELD_LATE, history);
  const { tokens: _, microUsd, ...spent } = history.of(spentFacet);
  // its row has told of it, unless an older program began that row
  proc.used.carryOver({ ...spent, microUsd: Math.max(0, microUsd - proc.used.microUsd) });
  proc.model.answered(history.of(answeringFacet));
  proc.seed.account.spentAtLeast(proc.used.microUsd);
  const { epoch, toolCalls } = history.of(contextFacet);
  proc.seen.epoch = epoch;
  proc.used.carryOver({ toolCalls });
  for (const { path, ...file } of seen) proc.seen.set(path, file);
  adoptKept(proc, kept);
  core.asks.leftOpen(proc, history.of(asksFacet));
  await recallCounts(journal, proc, history);
  recheckAuto(core, proc);
  proc.conclude(lastWords(messages));
  proc.logs?.remember(lines);
  proc.past.recalled(restored);
}

/**
 * Restores the session's counts from the history of the process that began it. Counts in memory are newer and are kept.
 */
async function recallCounts(journal: Journal, { seed }: Process, own: History): Promise<void> {
  const { owner, denials, circuit } = seed.session;
  if (owner === null || (denials.isKnown && circuit.isKnown)) return;
  const kept = owner.proc === seed.uuid ? own : await readHistory(journal, owner.proc);
  const [denied, failed] = [kept.of(denialsFacet), kept.of(circuitFacet)];
  if (!denials.isKnown && denied !== null) denials.take(denied);
  if (!circuit.isKnown && failed !== null) circuit.take(failed);
  denials.isKnown = true;
  circuit.isKnown = true;
}

/** Fills the whole context, or leaves it empty, so that the next caller may retry. */
function fillContext(
  core: Recalling,
  proc: Process,
  { systemPrompt, views, numbers, messages }: Contents,
): void {
  try {
    const held = new Map(numbers.map((n, i) => [n, messages[i] as ContextMessage]));
    core.contexts.fill(proc.ctxId, { systemPrompt, views, messages: held });
  } catch (error) {
    proc.contexts.open(core.contexts);
    throw error;
  }
}

/** The last non-empty text of the model. */
function lastWords(messages: readonly ContextMessage[]): string {
  const said = messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
  return said?.content ?? "";
}
