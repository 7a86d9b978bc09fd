/**
 * Send(pid, size): a message into the mailbox of a process that the caller sees: itself, its descendants, ancestors, group
 * members. For any other pid there is NOT_FOUND, as everywhere: who is out of sight is not told apart from who is not there.
 * The sender hears when the message is durable. Back-pressure: a full box refuses with UNAVAILABLE and nothing is stored;
 * whether to wait, drop or tell is for the sender to decide.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { Core } from "../core.ts";
import { Mailbox } from "../ipc/mailbox.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { Call } from "./call.ts";

export const send: Call<{ pid: Pid; data: Uint8Array }, void> = {
  name: "Send",
  holds: true,
  args: ({ pid, data }) => ({ pid, size: data.byteLength }),
  async run(core, self, { pid, data }) {
    if (data.byteLength > LIMITS.mailBytes)
      throw refuse(self, "INVALID", `message of ${data.byteLength} bytes; at most ${LIMITS.mailBytes}`);
    const target = core.table.require(self.pid, pid, "Send", "see");
    if (!target.isLive) throw ended(self, pid);
    target.mailbox ??= new Mailbox();
    const place = target.mailbox.claim(data.byteLength);
    const message = messageOf(core, self, pid, data);
    try {
      // Not ended by the caller's signal: whether it was sent is never in doubt.
      await journalPut(core, target, message);
      // Its reader ended meanwhile: it lies in a history that nobody goes on with.
      if (!target.isLive) throw ended(self, pid);
    } catch (error) {
      place.giveBack();
      throw error;
    }
    place.fill(message);
  },
};

/** Numbered in the same turn as its place is claimed and its record handed over: all three have one order. */
function messageOf(core: Core, self: Process, to: Pid, data: Uint8Array): Message {
  const sentAt = core.ports.clock.now();
  // The caller keeps no hand on the bytes.
  return { seq: core.nextMessage(), from: self.pid, to, data: data.slice(), sentAt };
}

async function journalPut(core: Core, target: Process, message: Message): Promise<void> {
  const body = { ...message, data: Buffer.from(message.data).toString("base64") };
  const { pid, seed } = target;
  await core.ports.journal.append([{ proc: seed.uuid, pid, kind: "mail.put", v: 1, body }]);
}

function ended(self: Process, pid: Pid): SyscallError {
  return refuse(self, "NOT_FOUND", `process has ended: ${pid}`, `crux logs ${pid} shows what it did`);
}

function refuse(self: Process, code: "INVALID" | "NOT_FOUND", message: string, hint?: string): SyscallError {
  return new SyscallError({ syscall: "Send", pid: self.pid, code, message, hint });
}
