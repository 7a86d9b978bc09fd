/**
 * Recv(): the oldest message for the caller, waiting for one. Who gives up, or whose time is over, takes none: the message
 * stays for the next. That it was taken is journalled in one with what next enters the context, or at the next Recv; a daemon
 * that dies before leaves it in the box, so a message is in the box or in the context, and never in neither.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { Message } from "../../abi/mail.ts";
import type { RecvOptions } from "../../abi/sys.ts";
import { linkSignals } from "../../lib/abort.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { Mailbox, type Wanted } from "../ipc/mailbox.ts";
import { takenDrafts } from "../ipc/taken.ts";
import { readLabels } from "../labels/label-set.ts";
import { addLabels } from "../labels/labels.ts";
import type { Process } from "../process/process.ts";
import { joins } from "../session/joins.ts";

/** What a timer of the platform takes, 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const recv: Call<RecvOptions, Message> = {
  name: "Recv",
  args: () => ({}),
  result: ({ data }) => data.byteLength,
  async run(core, self, { timeoutMs, client }, pass) {
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
  const before = self.activity;
  if (self.isLive) self.activity = "waiting";
  try {
    return await wait();
  } finally {
    if (self.isLive && self.activity === "waiting") self.activity = before;
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
