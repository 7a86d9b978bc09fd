/** A context belongs to its process; another's is PERMISSION. The kernel's clients may look, and change nothing. */
import { ContextError } from "../../abi/errors.ts";
import { type CtxId, PID_KERNEL } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import { takenDrafts } from "../ipc/taken.ts";
import type { Process } from "../process/process.ts";

export function requireOwn(core: Core, self: Process, cid: CtxId, op: string): void {
  if (self.contexts.has(cid)) return;
  if (!core.contexts.has(cid))
    throw new ContextError({ op, cid, code: "NOT_FOUND", message: "context not found" });
  throw new ContextError({ op, cid, code: "PERMISSION", message: "context belongs to another process" });
}

export function requireReadable(core: Core, self: Process, cid: CtxId, op: string): void {
  if (self.pid === PID_KERNEL && core.contexts.has(cid)) return;
  requireOwn(core, self, cid, op);
}

/** Whose it is, as far as `self` has to ask: one that a program has is there. */
export function ownerOf(core: Core, self: Process, cid: CtxId): Process | undefined {
  if (self.contexts.has(cid)) return undefined;
  for (const proc of core.table.all()) if (proc.ctxId === cid) return proc;
  return undefined;
}

/**
 * A message in the journal, synced with the next group: before the model sees it, because its request is synced later.
 * Without `cid` it belongs to the process's first context.
 */
export function journalMessage(
  core: Core,
  self: Process,
  cid: CtxId,
  message: ContextMessage,
  replaces: number,
): void {
  const body = {
    ...message,
    ...(replaces === 0 ? {} : { replaces }),
    ...(cid === self.ctxId ? {} : { cid }),
  };
  const record = { proc: self.seed.uuid, pid: self.pid, kind: "ctx.record", v: 1, body } as const;
  // a received message and what was made of it are one: a crash leaves both or neither
  core.ports.journal.note([record, ...takenDrafts(self)]);
}

export function journalSystemPrompt(core: Core, self: Process, cid: CtxId, text: string): void {
  core.note(self, "ctx.record", { system_prompt: text, ...(cid === self.ctxId ? {} : { cid }) });
}
