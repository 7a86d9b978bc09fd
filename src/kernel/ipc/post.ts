/**
 * Puts a message into the mailbox of a process: it is numbered, journalled and announced to watchers, and only then can
 * be taken.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Sent } from "../../abi/sys.ts";
import type { Journal, JournalDraft } from "../ports/journal.ts";
import { joins } from "./joins.ts";
import { type Mailbox, mailSize } from "./mailbox.ts";

/** What delivering a message needs of the kernel. */
export interface Office {
  readonly ports: {
    readonly clock: { now(): number; mono(): number };
    readonly journal: Pick<Journal, "append">;
  };
  nextMessage(): number;
}

/** The receiving process. */
interface Addressee {
  readonly pid: Pid;
  readonly seed: { readonly uuid: ProcUuid };
  readonly isLive: boolean;
  readonly life: { readonly isOver: boolean };
  readonly mailbox: Mailbox | null;
  ownMailbox(): Mailbox;
  /** null: the process has a single run. */
  readonly conversation: { readonly run: { readonly client: string } | null } | null;
  tell(event: ProcessEvent, mono: number): void;
}

export interface Letter extends Pick<Message, "from" | "data"> {
  readonly client?: Message["client"] | undefined;
  readonly media?: Message["media"] | undefined;
  readonly maxSteps?: Message["maxSteps"] | undefined;
  readonly notice?: Message["notice"] | undefined;
  readonly labels?: Message["labels"] | undefined;
  /** The request mark of the client that sent the message. */
  readonly request?: RequestMark | undefined;
  /** What the sender records together with the message. */
  readonly beside?: readonly JournalDraft[];
}

/**
 * Takes no abort signal, so that it is never in doubt whether the message was sent. NOT_FOUND: the process has ended.
 * UNAVAILABLE: its mailbox is full.
 */
export async function post(
  office: Office,
  to: Addressee,
  { request, beside = [], ...letter }: Letter,
): Promise<Sent> {
  // what is recorded before its exit would be read by nobody
  if (to.life.isOver) throw ended(letter.from, to.pid);
  const place = to.ownMailbox().claim(mailSize(letter));
  // no await between claiming the place, numbering and the append, so all three have the same order
  const message = numbered(office, to.pid, letter);
  const sent = { seq: message.seq, ahead: aheadOf(to, message) };
  try {
    await office.ports.journal.append([...beside, draftOf(to, message, request)]);
    // the receiver ended meanwhile: the record lies in a history that is not resumed
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

/** What preparing a message needs of the kernel. */
export interface Letters {
  readonly ports: { readonly clock: { now(): number; mono(): number } };
  nextMessage(): number;
}

/**
 * A message whose record is appended together with others: then it is delivered or dropped. It is never refused for lack of
 * room: a process has few children, and each sends one.
 */
export function letterTo(office: Letters, to: Addressee, letter: Letter) {
  const place = to.ownMailbox().claim(mailSize(letter), true);
  const message = numbered(office, to.pid, letter);
  const sent = { seq: message.seq, ahead: aheadOf(to, message) };
  return {
    draft: draftOf(to, message),
    deliver: () => {
      const told = queued(to, message, sent);
      if (told !== undefined) to.tell(told, office.ports.clock.mono());
      place.fill(message);
    },
    drop: () => place.giveBack(),
  };
}

export function numbered(office: Letters, to: Pid, letter: Letter): Message {
  const { from, data, client, media, maxSteps, notice, labels } = letter;
  const whose = client === undefined ? {} : { client };
  const known = {
    ...(media === undefined ? {} : { media }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(labels === undefined ? {} : { labels }),
    ...(notice === undefined ? {} : { notice }),
  };
  const sentAt = office.ports.clock.now();
  return { seq: office.nextMessage(), from, to, data, ...whose, ...known, sentAt };
}

/** The number of messages and runs before this one. A message that joins the current run is read before all others. */
function aheadOf({ mailbox, conversation }: Addressee, message: Message): number {
  const run = conversation?.run ?? null;
  if (run !== null && joins(message, run.client)) return 0;
  return (mailbox?.size ?? 1) - 1 + (run === null ? 0 : 1);
}

export function draftOf(
  { pid, seed }: Pick<Addressee, "pid" | "seed">,
  message: Message,
  request?: RequestMark,
) {
  const data = Buffer.from(message.data).toString("base64");
  const body = { ...message, data, ...(request === undefined ? {} : { request }) };
  return { proc: seed.uuid, pid, kind: "mail.put", v: 1, body } as const;
}

/**
 * The event that the message waits, published before it can be taken, so that watchers get it before the event that it
 * was read. undefined: the message does not wait.
 */
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
