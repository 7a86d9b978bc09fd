/** The calls of mail: messages between processes. */
import { SyscallError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { RecvOptions, SendOptions, Sent } from "../../abi/sys.ts";
import { readLabels } from "../../consent/labels/label-set.ts";
import { addLabels } from "../../consent/labels/labels.ts";
import { redactedBytes } from "../../consent/redact/model-bound.ts";
import { linkSignals } from "../../lib/abort.ts";
import type { Core } from "../core.ts";
import { checkFellow } from "../gate/fellow-mail.ts";
import type { KernelCall } from "../gate/gate.ts";
import { joins } from "../ipc/joins.ts";
import { Mailbox, type Wanted } from "../ipc/mailbox.ts";
import { takenDrafts } from "../ipc/taken.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";

/**
 * Send(pid, size): a message into the mailbox of a process that the caller sees: itself, its descendants, ancestors, group
 * members, fellow members of its compose project. For any other pid there is NOT_FOUND, as everywhere: who is out of sight is not told apart from who is not there.
 * The sender hears when the message is durable. Back-pressure: a full box refuses with UNAVAILABLE and nothing is stored;
 * whether to wait, drop or tell is for the sender to decide.
 */
const send: KernelCall<"send", { pid: Pid; data: Uint8Array } & SendOptions> = {
  name: "Send",
  holds: true,
  take: (pid, data, _signal, options) => ({ pid, data, ...options }),
  args: ({ pid, data }) => ({ pid, size: data.byteLength }),
  async run(pass, { pid, data: given, client, request }) {
    const { core, self } = pass;
    if (given.byteLength > LIMITS.mailBytes)
      throw refuse(self, "INVALID", `message of ${given.byteLength} bytes; at most ${LIMITS.mailBytes}`);
    // the caller keeps no hand on the bytes
    const data = redactedBytes(core, self, given).slice();
    if (self.pid === PID_KERNEL) core.journalWatch.check("Send");
    else if (pass.scope === null) await core.journalWatch.held(self, "Send", pass.signal);
    // a person's words bring back a session that rests
    if (self.pid === PID_KERNEL && !core.sessions.isHere(pid)) await core.sessions.awake(pid);
    const target = core.table.require(self.pid, pid, "Send", "see");
    checkFellow(pass, pid);
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
  return refuse(self, "NOT_FOUND", `process has ended: ${pid}`, { kind: "ended", pid });
}

function refuse(self: Process, code: "INVALID" | "NOT_FOUND", message: string, fact?: Fact): SyscallError {
  return new SyscallError({ syscall: "Send", pid: self.pid, code, message, fact });
}

/** What a timer of the platform takes, 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Recv(): the oldest message for the caller, waiting for one. Who gives up, or whose time is over, takes none: the message
 * stays for the next. That it was taken is journalled in one with what next enters the context, or at the next Recv; a daemon
 * that dies before leaves it in the box, so a message is in the box or in the context, and never in neither.
 */
const recv: KernelCall<"recv", RecvOptions> = {
  name: "Recv",
  take: (options = {}) => options,
  args: () => ({}),
  result: ({ data }) => data.byteLength,
  async run(pass, { timeoutMs, client }) {
    const { core, self } = pass;
    checkTimeout(self, timeoutMs);
    const box = self.mailbox ?? new Mailbox();
    self.mailbox = box;
    const wants: Wanted = (each) => client === undefined || joins(each, client);
    const message =
      box.tryTake(wants) ??
      (await shownWaiting(self, () => within(core, self, box, wants, timeoutMs, pass.signal)));
    // the one before was dealt with, whatever its program made of it
    core.ports.journal.note(takenDrafts(self));
    self.takenMail = [message.seq];
    addLabels(core, self, readLabels(message.labels));
    return message;
  },
};

function checkTimeout(self: Process, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) return;
  const message = `timeoutMs must be 0 to ${MAX_TIMEOUT_MS}: ${timeoutMs}`;
  throw new SyscallError({ syscall: "Recv", pid: self.pid, code: "INVALID", message });
}

/** The process shows `waiting` meanwhile, and then again what it showed before. */
async function shownWaiting(self: Process, wait: () => Promise<Message>): Promise<Message> {
  const before = self.life.activity;
  self.life.act("waiting");
  try {
    return await wait();
  } finally {
    if (self.life.activity === "waiting") self.life.act(before);
  }
}

async function within(
  core: Core,
  self: Process,
  box: Mailbox,
  wants: Wanted,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Message> {
  if (timeoutMs === undefined) return box.take(signal, wants);
  if (timeoutMs === 0) throw late(self, timeoutMs);
  const [over, stop] = [new AbortController(), new AbortController()];
  core.ports.clock.sleep(timeoutMs, stop.signal).then(
    () => over.abort(late(self, timeoutMs)),
    () => {},
  );
  using linked = linkSignals(signal, over.signal);
  try {
    return await box.take(linked.signal, wants);
  } finally {
    stop.abort();
  }
}

function late(self: Process, timeoutMs: number): SyscallError {
  const message = timeoutMs === 0 ? "no message is there" : `no message within ${timeoutMs} ms`;
  return new SyscallError({ syscall: "Recv", pid: self.pid, code: "TIMEOUT", message });
}

export const mailCalls = { send, recv };
