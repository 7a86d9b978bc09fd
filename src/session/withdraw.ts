/** A message is taken back while it waits: once it was read, it is part of what was said. */
import { Fault } from "../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { Core } from "../kernel/core.ts";

/** Durable when it resolves; a disk that refuses leaves the message where it was. */
export async function withdrawMessage(core: Core, pid: Pid, seq: number): Promise<void> {
  const proc = core.table.require(PID_KERNEL, pid, "Withdraw", "control");
  core.journalWatch.check("Withdraw");
  const message = proc.mailbox?.withdraw(seq);
  if (message === undefined) {
    const words = `message ${seq} does not wait for process ${pid}: it has been read, or there is none`;
    throw new Fault({ code: "CONFLICT", message: words });
  }
  const record = { proc: proc.seed.uuid, pid, kind: "mail.done", v: 1, body: { seq } } as const;
  try {
    await core.ports.journal.append([record]);
  } catch (error) {
    proc.mailbox?.putBack(message);
    throw error;
  }
  proc.tell({ event: "withdrawn", pid, seq }, core.ports.clock.mono());
  core.idle(proc);
}
