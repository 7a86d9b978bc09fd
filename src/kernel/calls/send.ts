/**
 * Send(pid, size): a message into the mailbox of a process that the caller sees: itself, its descendants, ancestors, group
 * members, fellow members of its compose project. For any other pid there is NOT_FOUND, as everywhere: who is out of sight is not told apart from who is not there.
 * The sender hears when the message is durable. Back-pressure: a full box refuses with UNAVAILABLE and nothing is stored;
 * whether to wait, drop or tell is for the sender to decide.
 */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { SendOptions, Sent } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { checkFellow } from "../gate/fellow-mail.ts";
import { Mailbox } from "../ipc/mailbox.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { redactedBytes } from "../redact/model-bound.ts";
import { joins } from "../session/joins.ts";

export const send: Call<{ pid: Pid; data: Uint8Array } & SendOptions, Sent> = {
  name: "Send",
  holds: true,
  args: ({ pid, data }) => ({ pid, size: data.byteLength }),
  async run(core, self, { pid, data: given, client, request }, pass) {
    if (given.byteLength > LIMITS.mailBytes)
      throw refuse(self, "INVALID", `message of ${given.byteLength} bytes; at most ${LIMITS.mailBytes}`);
    // the caller keeps no hand on the bytes
    const data = redactedBytes(core, self, given).slice();
    if (self.pid === PID_KERNEL) core.journalWatch.check("Send");
    else if (pass.scope === null) await core.journalWatch.held(self, "Send", pass.signal);
    // a person's words bring back a session that rests
    if (self.pid === PID_KERNEL && !core.sessions.isHere(pid)) await core.sessions.awake(pid);
    const target = core.table.require(self.pid, pid, "Send", "see");
    checkFellow(core, self, pid, pass.scope);
    if (!target.isLive) throw ended(self, pid);
    target.mailbox ??= new Mailbox();
    const place = target.mailbox.claim(data.byteLength);
    const message = messageOf(core, self, pid, data, client);
    const sent = { seq: message.seq, ahead: aheadOf(target, message) };
    try {
      // Not ended by the caller's signal: whether it was sent is never in doubt.
      await journalPut(core, target, message, request);
      // Its reader ended meanwhile: it lies in a history that nobody goes on with.
      if (!target.isLive) throw ended(self, pid);
    } catch (error) {
      place.giveBack();
      throw error;
    }
    tellQueued(core, target, message, sent);
    place.fill(message);
    return sent;
  },
};

/** Numbered in the same turn as its place is claimed and its record handed over: all three have one order. */
function messageOf(core: Core, self: Process, to: Pid, data: Uint8Array, client?: string): Message {
  const whose = client === undefined ? {} : { client };
  const labels = self.labels.length === 0 ? {} : { labels: self.labels };
  const own = { data, ...whose, ...labels, sentAt: core.ports.clock.now() };
  return { seq: core.nextMessage(), from: self.pid, to, ...own };
}

/** Its own place in the box is not before it. Words of the run's own client are read before all that waits. */
export function aheadOf({ mailbox, conversation }: Process, message: Message): number {
  const run = conversation?.run ?? null;
  if (run !== null && joins(message, run.client)) return 0;
  return (mailbox?.size ?? 1) - 1 + (run === null ? 0 : 1);
}

/** Before it can be taken: who follows hears first that it waits, then that it was read. */
export function tellQueued(
  core: Core,
  target: Process,
  { seq, from, client = "", data }: Message,
  sent: Sent,
): void {
  const { conversation, pid } = target;
  if (conversation === null || (conversation.run === null && sent.ahead === 0)) return;
  const text = new TextDecoder().decode(data);
  const { ahead } = sent;
  target.tell({ event: "queued", pid, seq, from, client, text, ahead }, core.ports.clock.mono());
}

/** `request`: of the client whose message it is. */
export async function journalPut(
  core: Core,
  target: Process,
  message: Message,
  request?: RequestMark,
): Promise<void> {
  const data = Buffer.from(message.data).toString("base64");
  const body = { ...message, data, ...(request === undefined ? {} : { request }) };
  const { pid, seed } = target;
  await core.ports.journal.append([{ proc: seed.uuid, pid, kind: "mail.put", v: 1, body }]);
}

function ended(self: Process, pid: Pid): SyscallError {
  return refuse(self, "NOT_FOUND", `process has ended: ${pid}`, `crux logs ${pid} shows what it did`);
}

function refuse(self: Process, code: "INVALID" | "NOT_FOUND", message: string, hint?: string): SyscallError {
  return new SyscallError({ syscall: "Send", pid: self.pid, code, message, hint });
}
