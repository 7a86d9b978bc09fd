/** A context belongs to its process; another's is PERMISSION, whoever asks. */
import { ContextError } from "../../abi/errors.ts";
import { type CtxId, PID_KERNEL } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";

export function requireOwn(self: Process, cid: CtxId, op: string): void {
  if (self.pid === PID_KERNEL || self.contexts.has(cid)) return;
  throw new ContextError({
    op,
    cid,
    code: "PERMISSION",
    message: "context belongs to another process, or to none",
  });
}

/** A message in the journal, synced with the next group: before the model sees it, because its request is synced later. */
export function journalMessage(core: Core, self: Process, message: ContextMessage, replaces: number): void {
  const body = replaces === 0 ? message : { ...message, replaces };
  const { pid } = self;
  core.ports.journal.note([{ proc: self.seed.uuid, pid, kind: "ctx.record", v: 1, body }]);
}
