/**
 * Agents that ended with a message unread: the daemon stopped before they came back with it (process/spawn/run.ts). One
 * record lets such an agent count as not ended, so it is restored like all others, and only once.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import type { JournalDraft, JournalRecord } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { goneWorktree } from "../../kernel/process/tree/worktree.ts";
import type { Relic } from "./legacy.ts";

interface Reading {
  readonly ports: Pick<KernelPorts, "journal" | "worktrees">;
}

/** Whether there are any. `relics`: what has not ended, their parents among them. */
export async function readOn(core: Reading, relics: readonly Relic[]): Promise<boolean> {
  const { journal } = core.ports;
  const letters = (await journal.endedMail()).filter(({ body }) => !isNotice(body));
  const backs = new Set(relics.filter(({ fate }) => fate !== "lost").map(({ owner }) => Number(owner.pid)));
  const drafts: JournalDraft[] = [];
  for (const proc of new Set(letters.map((letter) => letter.proc))) {
    const exited = await journal.newest(proc, "process.exited");
    // what was recorded after its exit was refused to its sender
    const isUnread = letters.some((letter) => letter.proc === proc && letter.seq < (exited?.seq ?? 0));
    const spawned = isUnread ? await resumable(core, proc) : undefined;
    const { ppid, child } = (spawned?.body ?? {}) as Partial<SpawnedBody>;
    if (spawned === undefined || child === undefined || !backs.has(Number(ppid))) continue;
    const owner = { proc, pid: spawned.pid };
    const body = { epoch: journal.epoch, resumed: true };
    drafts.push({ ...owner, kind: "process.recovered", v: 1, body });
    // whoever waited for it has its result, perhaps
    if (child.isBackground !== true) drafts.push({ ...owner, kind: "child.detached", v: 1, body: {} });
  }
  if (drafts.length > 0) await journal.append(drafts);
  return drafts.length > 0;
}

/** The record of its spawn. undefined: it cannot be restored, and stays as it ended. */
async function resumable(core: Reading, proc: ProcUuid): Promise<JournalRecord | undefined> {
  const { journal } = core.ports;
  const [spawned] = await journal.ofKind(proc, "process.spawned");
  const states = await journal.ofKind(proc, "process.state");
  const isDamaged = ((await journal.row(proc))?.damagedAt ?? null) !== null;
  if (spawned === undefined || states.length === 0 || isDamaged) return undefined;
  const gone = await goneWorktree(core, rightsOf(spawned.body as SpawnedBody));
  return gone === undefined ? spawned : undefined;
}

function isNotice(body: unknown): boolean {
  return (body as { readonly notice?: number }).notice !== undefined;
}
