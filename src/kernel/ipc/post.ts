/** How a message comes into the box of a process: numbered, journalled, told to who follows, and only then there to be taken. */
import { SyscallError } from "../../abi/errors.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Sent } from "../../abi/sys.ts";
import type { Journal } from "../ports/journal.ts";
import { joins } from "./joins.ts";
import type { Mailbox } from "./mailbox.ts";

interface Office {
  readonly ports: {
    readonly clock: { now(): number; mono(): number };
    readonly journal: Pick<Journal, "append">;
  };
  nextMessage(): number;
}

/** Whose box it comes into. */
interface Addressee {
  readonly pid: Pid;
  readonly seed: { readonly uuid: ProcUuid };
  readonly isLive: boolean;
  readonly mailbox: Mailbox | null;
  ownMailbox(): Mailbox;
  /** null: it has one run. */
  readonly conversation: { readonly run: { readonly client: string } | null } | null;
  tell(event: ProcessEvent, mono: number): void;
}

interface Letter extends Pick<Message, "from" | "data"> {
  readonly client?: Message["client"] | undefined;
  readonly labels?: Message["labels"] | undefined;
  /** Of the client whose message it is. */
  readonly request?: RequestMark | undefined;
}

/** Not ended by a signal: whether it was sent is never in doubt. NOT_FOUND: it has ended. UNAVAILABLE: its box is full. */
export async function post(office: Office, to: Addressee, { request, ...letter }: Letter): Promise<Sent> {
  if (!to.isLive) throw ended(letter.from, to.pid);
  const place = to.ownMailbox().claim(letter.data.byteLength);
  // numbered in the same turn as its place is claimed and its record handed over: all three have one order
  const message = numbered(office, to.pid, letter);
  const sent = { seq: message.seq, ahead: aheadOf(to, message) };
  try {
    await office.ports.journal.append([draftOf(to, message, request)]);
    // Its reader ended meanwhile: it lies in a history that nobody goes on with.
    if (!to.isLive) throw ended(letter.from, to.pid);
  } catch (error) {
    place.giveBack();
    throw error;
  }
  const told = queued(to, message, sent);
  if (told !== undefined) to.tell(told, office.ports.clock.mono());
  place.fill(message);
  return sent;
}

function numbered(office: Office, to: Pid, letter: Letter): Message {
  const { from, data, client, labels } = letter;
  const whose = client === undefined ? {} : { client };
  const known = labels === undefined ? {} : { labels };
  const sentAt = office.ports.clock.now();
  return { seq: office.nextMessage(), from, to, data, ...whose, ...known, sentAt };
}

/** Its own place in the box is not before it. Words of the run's own client are read before all that waits. */
function aheadOf({ mailbox, conversation }: Addressee, message: Message): number {
  const run = conversation?.run ?? null;
  if (run !== null && joins(message, run.client)) return 0;
  return (mailbox?.size ?? 1) - 1 + (run === null ? 0 : 1);
}

function draftOf({ pid, seed }: Addressee, message: Message, request?: RequestMark) {
  const data = Buffer.from(message.data).toString("base64");
  const body = { ...message, data, ...(request === undefined ? {} : { request }) };
  return { proc: seed.uuid, pid, kind: "mail.put", v: 1, body } as const;
}

/** Before it can be taken: who follows hears first that it waits, then that it was read. undefined: it does not wait. */
function queued(
  { conversation, pid }: Addressee,
  message: Message,
  { ahead }: Sent,
): ProcessEvent | undefined {
  if (conversation === null || (conversation.run === null && ahead === 0)) return undefined;
  const { seq, from, client = "", data } = message;
  return { event: "queued", pid, seq, from, client, text: new TextDecoder().decode(data), ahead };
}

function ended(from: Pid, pid: Pid): SyscallError {
  const why = { message: `process has ended: ${pid}`, fact: { kind: "ended", pid } } as const;
  return new SyscallError({ syscall: "Send", pid: from, code: "NOT_FOUND", ...why });
}
