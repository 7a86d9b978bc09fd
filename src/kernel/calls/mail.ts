/** The calls of mail: messages between processes. */

import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import type { Clock } from "../../abi/program.ts";
import type { OwnSendOptions, RecvOptions, Sent } from "../../abi/sys.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import type { Accounting } from "../account/accounting.ts";
import type { Admission } from "../account/admission.ts";
import { checkSpawn } from "../account/spawn-guard.ts";
import { type EndSearch, endOf } from "../facts/ended.ts";
import type { Call, CallPass } from "../gate/call.ts";
import type { Policed } from "../gate/decide.ts";
import { checkFellow, type Fellowship } from "../gate/fellow-mail.ts";
import type { KernelCall } from "../gate/gate.ts";
import { joins } from "../ipc/joins.ts";
import { isInTime, isUseful, wasTold } from "../ipc/mail-pace.ts";
import { disturbed, type Mailbox, type Wanted } from "../ipc/mailbox.ts";
import { pictured } from "../ipc/pictured.ts";
import { type Letter, type Office, post } from "../ipc/post.ts";
import { type Taker, takenDrafts, tookMail } from "../ipc/taken.ts";
import { readLabels } from "../labels/label-set.ts";
import { addLabels, type LabelKeeper, type Labelled } from "../labels/labelled.ts";
import { LIMITS } from "../limits.ts";
import type { Journal, JournalDraft } from "../ports/journal.ts";
import type { JournalHold } from "../ports/journal-hold.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Sessions } from "../ports/sessions.ts";
import { whyUnseen } from "../process/chosen-model.ts";
import type { LifeCycle } from "../process/life/life-cycle.ts";
import type { Process } from "../process/process.ts";
import { type Notifying, notify } from "../process/signal/notify.ts";
import type { ProcessTable } from "../process/table.ts";
import { viewRequestOf } from "../process/view-requests.ts";
import { type Redacting, redactedBytes } from "../redact/model-bound.ts";

/** The parts of the kernel that sending uses. */
type Sending = Office &
  Redacting &
  Policed &
  Accounting &
  Fellowship & {
    readonly table: ProcessTable;
    readonly journalWatch: Pick<JournalHold<Process>, "check" | "held">;
    readonly admission: Pick<Admission, "waitingIn">;
    readonly sessions: Pick<Sessions, "awake" | "resumeWith"> & { isHere(pid: Pid): boolean };
    readonly ports: EndSearch["ports"] & Pick<KernelPorts, "models">;
  } & Pacing;

/** What keeping agents from writing without end uses. */
type Pacing = Notifying & {
  readonly table: Pick<ProcessTable, "get">;
  deliver(proc: Process, signal: Signal): Promise<unknown>;
};

/**
 * Send(pid, size): puts a message into the mailbox of a process that the caller sees: itself, its descendants,
 * ancestors, group members, fellow members of its compose project. Any other that lives is PERMISSION, which says no more
 * than that the pid is in use. An agent below the caller that has ended comes back and reads it. Resolves when the message is durable. Back-pressure: a full box refuses with UNAVAILABLE
 * and stores nothing; the sender decides whether to wait, drop or report it.
 */
const send: KernelCall<"send", { pid: Pid; data: Uint8Array } & OwnSendOptions, Sending> = {
  name: "Send",
  holds: true,
  take: (pid, data, _signal, options) => ({ pid, data, ...options }),
  args: ({ pid, data }) => ({ pid, size: data.byteLength }),
  async run(pass, { pid, data: words, client, media, maxSteps, request, withCheckpoint }) {
    const { core, self } = pass;
    const call = { pid: self.pid, syscall: "Send" };
    const given =
      media === undefined ? words : Buffer.from(pictured(call, Buffer.from(words).toString(), media));
    if (given.byteLength > LIMITS.mailBytes) {
      const message = `message of ${given.byteLength} bytes; at most ${LIMITS.mailBytes}`;
      throw new SyscallError({ syscall: "Send", pid: self.pid, code: "INVALID", message });
    }
    // the caller cannot change this copy of the bytes
    const data = redactedBytes(core, self, given).slice();
    if (self.pid === PID_KERNEL) core.journalWatch.check("Send");
    else if (pass.scope === null) await core.journalWatch.held(self, "Send", pass.signal);
    // a message from the user wakes a resting session
    if (self.pid === PID_KERNEL && !core.sessions.isHere(pid)) await core.sessions.awake(pid);
    await checkPace(pass, pid);
    const labels = self.labels.length === 0 ? undefined : self.labels;
    const letter = { from: self.pid, data, client, media, maxSteps, labels, request };
    const mayResume = pass.scope === null || pass.scope.effects.some(({ kind }) => kind === "message");
    const table: ProcessTable = core.table;
    // nothing is awaited between this look at one that still reads and its mailbox
    const back =
      mayResume && withCheckpoint === undefined && table.get(pid)?.life.isOver !== false
        ? await resumed(core, self, pid, letter)
        : undefined;
    if (back !== undefined) return back;
    const target = receiverOf(table, self, pid);
    checkFellow(pass, pid);
    const unseen = media === undefined ? undefined : whyUnseen(core, target);
    if (unseen !== undefined) throw new SyscallError({ ...call, code: "INVALID", message: unseen });
    return post(core, target, { ...letter, beside: placeDrafts(pass, withCheckpoint) });
  },
};

/**
 * Messages that a model sends do not go on without end. UNAVAILABLE: too many to one process within a minute; or the two do
 * nothing but write to each other, and both are paused until the user lets them go on.
 */
async function checkPace({ core, self, scope }: CallPass<Pacing, Process>, pid: Pid): Promise<void> {
  const other = core.table.get(pid);
  if (self.pid === PID_KERNEL && other !== undefined) wasTold(other);
  if (scope === null || self.seed.kind !== "agent") return;
  const refuse = (message: string, hint: string): never => {
    throw new SyscallError({ syscall: "Send", pid: self.pid, code: "UNAVAILABLE", message, hint });
  };
  if (!isInTime(self, pid, core.ports.clock.mono()))
    refuse(
      `${LIMITS.mailPerMinute} messages to process ${pid} within a minute`,
      "put more into one message, or wait",
    );
  if (other?.seed.kind !== "agent" || other === self || isUseful(self, other, scope.callId)) return;
  const words = `processes ${self.pid} and ${pid} wrote ${LIMITS.mailInRow} messages to each other and did nothing else; both are paused`;
  const lead = core.table.get(self.seed.session.owner?.pid ?? PID_KERNEL);
  if (lead !== undefined && lead !== self && lead !== other)
    await notify(core, lead, `${words}. stop ends one; the user lets them go on.`);
  for (const proc of [other, self]) {
    proc.log("warn", `${words}: crux cont ${proc.pid}`, core.ports.clock.mono());
    await core.deliver(proc, SIGNALS.SIGPAUSE);
  }
  refuse(words, "say what came of it; the user lets you go on");
}

/** PERMISSION: it lives, and the caller does not see it. NOT_FOUND: nobody lives there. */
function receiverOf(table: ProcessTable, self: Process, pid: Pid): Process {
  if (pid === PID_KERNEL || table.get(pid)?.isLive !== true || table.sees(self.pid, pid))
    return table.require(self.pid, pid, "Send", "see");
  const message = `process ${pid} is not above or below the caller, and not in a group with it`;
  throw new SyscallError({ syscall: "Send", pid: self.pid, code: "PERMISSION", message });
}

/** Only the program has a position, and none after the end of its process. */
function placeDrafts({ self, scope }: CallPass<Sending, Process>, state: unknown): readonly JournalDraft[] {
  if (state === undefined || scope !== null || self.life.isClosed) return [];
  self.tape?.flush();
  return [{ proc: self.seed.uuid, pid: self.pid, kind: "process.checkpoint", v: 1, body: { state } }];
}

/**
 * The agent has ended, is below the caller, and the one that started it still lives: it reads the letter and works on, within
 * the limits that hold for a new agent there. undefined: there is no such agent. CONFLICT: it cannot be resumed.
 */
async function resumed(core: Sending, self: Process, pid: Pid, letter: Letter): Promise<Sent | undefined> {
  const table: ProcessTable = core.table;
  if (self.pid === PID_KERNEL || self.pid === pid) return undefined;
  const ppid = table.get(pid)?.ppid ?? (await endOf(core, pid))?.ppid;
  const parent = ppid === undefined ? undefined : table.get(ppid);
  if (parent?.isLive !== true || !table.controls(self.pid, parent.pid)) return undefined;
  checkSpawn(core, parent, null);
  return core.sessions.resumeWith(pid, letter, self.seed.env);
}

/** The parts of the kernel that receiving uses. */
interface ReceiverKernel extends LabelKeeper {
  /** Who waits takes no place from agents that have not begun. */
  readonly admission: { idle(proc: object): () => void };
  readonly ports: {
    readonly clock: Pick<Clock, "sleep">;
    readonly journal: Pick<Journal, "note">;
  };
}

interface Receiver extends Taker, Labelled {
  readonly pid: Pid;
  readonly life: Pick<LifeCycle, "activity" | "act">;
  ownMailbox(): Mailbox;
}

/** The longest timeout of the platform's timers, 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Recv(): the oldest message for the caller, waiting for one. A cancelled or timed-out call takes none: the message
 * stays for the next call. The taking is journalled in one batch with the next message that enters the context, or at
 * the next Recv; if the daemon dies earlier the message is still in the box. So it is always in the box or in the
 * context, never in neither.
 */
const recv: Call<"recv", RecvOptions, ReceiverKernel, Receiver> = {
  name: "Recv",
  take: (options = {}) => options,
  args: () => ({}),
  result: ({ data }) => data.byteLength,
  async run(pass, { timeoutMs, client, orViewRequest = false }) {
    const { core, self } = pass;
    checkTimeout(self, timeoutMs);
    if (orViewRequest && viewRequestOf(self) !== null) throw disturbed();
    const box = self.ownMailbox();
    const wants: Wanted = (each) => client === undefined || joins(each, client);
    const message =
      box.tryTake(wants) ??
      (await shownWaiting(core, self, () =>
        within(pass, timeoutMs, (signal) => box.take(signal, wants, orViewRequest)),
      ));
    // the previous message counts as handled, whatever the program did with it
    core.ports.journal.note(takenDrafts(self));
    tookMail(self, message.seq);
    addLabels(core, self, readLabels(message.labels));
    return message;
  },
};

function checkTimeout({ pid }: Receiver, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) return;
  const message = `timeoutMs must be 0 to ${MAX_TIMEOUT_MS}: ${timeoutMs}`;
  throw new SyscallError({ syscall: "Recv", pid, code: "INVALID", message });
}

/** Shows the activity `waiting` during the wait, then the previous one again. */
async function shownWaiting(
  { admission }: Pick<ReceiverKernel, "admission">,
  self: Receiver,
  wait: () => Promise<Message>,
): Promise<Message> {
  const before = self.life.activity;
  self.life.act("waiting");
  const resumed = admission.idle(self);
  try {
    return await wait();
  } finally {
    resumed();
    if (self.life.activity === "waiting") self.life.act(before);
  }
}

async function within(
  { core, self, signal }: CallPass<ReceiverKernel, Receiver>,
  timeoutMs: number | undefined,
  take: (signal: AbortSignal) => Promise<Message>,
): Promise<Message> {
  if (timeoutMs === undefined) return take(signal);
  if (timeoutMs === 0) throw late(self, timeoutMs);
  const [over, stop] = [new AbortController(), new AbortController()];
  core.ports.clock.sleep(timeoutMs, stop.signal).then(
    () => over.abort(late(self, timeoutMs)),
    () => {},
  );
  using linked = linkSignals(signal, over.signal);
  try {
    return await take(linked.signal);
  } finally {
    stop.abort(ABORTED);
  }
}

function late({ pid }: Receiver, timeoutMs: number): SyscallError {
  const message = timeoutMs === 0 ? "no message is there" : `no message within ${timeoutMs} ms`;
  return new SyscallError({ syscall: "Recv", pid, code: "TIMEOUT", message });
}

export const mailCalls = { send, recv };
