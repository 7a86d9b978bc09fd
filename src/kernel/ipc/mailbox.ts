/**
 * The messages for one process, oldest first; notices that a child has ended come after all others. Bounded by `mailboxMessages` and `mailboxBytes`: a full mailbox refuses
 * with UNAVAILABLE and drops no message to make room, so an acknowledged message stays. A place is claimed before its
 * message is journalled: the order in the mailbox is that of the claims, whichever append finishes first.
 */
import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import { reasonOf } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";

/** Whether the receiver wants the message. */
export type Wanted = (message: Message) => boolean;

/** A place for one message that is being journalled. Exactly one of the two methods is called. */
export interface MailPlace {
  fill(message: Message): void;
  /** Frees the place of a message that was not stored. */
  giveBack(): void;
}

interface Place {
  readonly bytes: number;
  /** null while the message is being journalled: later ones wait behind it. */
  message: Message | null;
}

type FilledPlace = Place & { readonly message: Message };

interface Watch {
  readonly wants: Wanted;
  readonly told: () => void;
}

interface Receiver {
  readonly wants: Wanted;
  readonly mayBeDisturbed: boolean;
  readonly deliver: (message: Message) => void;
  readonly refuse: (error: Error) => void;
}

export class Mailbox {
  readonly #places: Place[] = [];
  /** Waiting receivers, in order of their calls; none of them wants a message that is ready. */
  readonly #receivers = new Set<Receiver>();
  readonly #watches = new Set<Watch>();
  #bytes = 0;
  #closed = false;

  /** The number of messages, including those that are being journalled. */
  get size(): number {
    return this.#places.length;
  }

  /** Whether the oldest message can be taken. */
  get isReady(): boolean {
    return (this.#places[0]?.message ?? null) !== null;
  }

  /** A message that can be taken and is not the notice of an end. */
  get hasLetter(): boolean {
    return this.#places.some(({ message }) => message !== null && message.notice === undefined);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a wanted message can be taken: no message that is being journalled is before it. */
  has(wants: Wanted): boolean {
    return this.#find(wants) !== undefined;
  }

  /**
   * Calls `told` once, as soon as a wanted message can be taken; takes nothing. The returned function ends the watch.
   */
  watch(wants: Wanted, told: () => void): () => void {
    const watch = { wants, told };
    this.#watches.add(watch);
    this.#tellWatches();
    return () => void this.#watches.delete(watch);
  }

  /** Removes a message that was not taken yet; undefined: no such message. */
  withdraw(seq: number): Message | undefined {
    const place = this.#places.find(({ message }) => message?.seq === seq);
    if (place === undefined) return undefined;
    this.#giveBack(place);
    return place.message ?? undefined;
  }

  /** The number of the unread notice about a process; undefined: there is none. */
  noticeOf(pid: Pid): number | undefined {
    return this.#places.find(({ message }) => message?.notice === pid)?.message?.seq;
  }

  /** Puts a message back to its place in the order of numbers. */
  putBack(message: Message): void {
    const after = this.#places.findIndex((place) => (place.message?.seq ?? Infinity) > message.seq);
    const place = { bytes: mailSize(message), message };
    this.#places.splice(after < 0 ? this.#places.length : after, 0, place);
    this.#bytes += place.bytes;
    this.#serve();
  }

  /** `isSure`: the place is given even where there is no room. */
  claim(bytes: number, isSure = false): MailPlace {
    if (!isSure) this.#checkRoom(bytes);
    const place: Place = { bytes, message: null };
    this.#add(place);
    return {
      fill: (message) => {
        place.message = message;
        this.#serve();
      },
      giveBack: () => this.#giveBack(place),
    };
  }

  #checkRoom(bytes: number): void {
    if (this.#places.length >= LIMITS.mailboxMessages) throw full(`${LIMITS.mailboxMessages} messages`);
    if (this.#bytes + bytes > LIMITS.mailboxBytes) throw full(`${this.#bytes} bytes of messages`);
  }

  /**
   * Adds a message that an earlier daemon stored and that was not taken; it was within the bounds then. Called in
   * order, before any new message is sent.
   */
  restore(message: Message): void {
    this.#add({ bytes: mailSize(message), message });
    this.#serve();
  }

  /**
   * Takes the oldest wanted message, or waits for one. Rejects with CANCELLED when the mailbox closes, or with the
   * signal's reason if that fires first: then the message stays for the next receiver. UNAVAILABLE: too many receivers.
   * `mayBeDisturbed`: rejects with CANCELLED at `disturb`, too.
   */
  take(signal: AbortSignal, wants: Wanted = anything, mayBeDisturbed = false): Promise<Message> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const ready = this.tryTake(wants);
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.#closed) return Promise.reject(closed());
    if (this.#receivers.size >= LIMITS.mailboxReceivers) return Promise.reject(crowded());
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const leave = (): void => {
      this.#receivers.delete(receiver);
      signal.removeEventListener("abort", giveUp);
    };
    const receiver: Receiver = {
      wants,
      mayBeDisturbed,
      deliver: (message) => {
        leave();
        resolve(message);
      },
      refuse: (error) => {
        leave();
        reject(error);
      },
    };
    const giveUp = (): void => receiver.refuse(reasonOf(signal));
    signal.addEventListener("abort", giveUp, { once: true });
    this.#receivers.add(receiver);
    return promise;
  }

  tryTake(wants: Wanted = anything): Message | undefined {
    const place = this.#find(wants);
    if (place === undefined) return undefined;
    this.#places.splice(this.#places.indexOf(place), 1);
    this.#bytes -= place.bytes;
    return place.message;
  }

  /** Ends the wait of those that allow it. */
  disturb(): void {
    for (const receiver of this.#receivers) if (receiver.mayBeDisturbed) receiver.refuse(disturbed());
  }

  /** Drops all messages; waiting receivers get CANCELLED. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#places.length = 0;
    this.#bytes = 0;
    for (const receiver of this.#receivers) receiver.refuse(closed());
  }

  #add(place: Place): void {
    this.#places.push(place);
    this.#bytes += place.bytes;
  }

  #giveBack(place: Place): void {
    const at = this.#places.indexOf(place);
    if (at < 0) return;
    this.#places.splice(at, 1);
    this.#bytes -= place.bytes;
    this.#serve();
  }

  #serve(): void {
    for (const receiver of this.#receivers) {
      const message = this.tryTake(receiver.wants);
      if (message !== undefined) receiver.deliver(message);
    }
    this.#tellWatches();
  }

  #tellWatches(): void {
    for (const watch of this.#watches) {
      if (!this.has(watch.wants)) continue;
      this.#watches.delete(watch);
      watch.told();
    }
  }

  /** Stops at a message that is being journalled: it may turn out to be wanted, so nothing overtakes it. */
  #find(wants: Wanted): FilledPlace | undefined {
    let notice: FilledPlace | undefined;
    for (const place of this.#places) {
      if (!isFilled(place)) return notice;
      if (!wants(place.message)) continue;
      if (place.message.notice === undefined) return place;
      notice ??= place;
    }
    return notice;
  }
}

const anything: Wanted = () => true;

/** The room that a message takes: its text, and its pictures as they are kept. */
export function mailSize({
  data,
  media = [],
}: {
  data: Uint8Array;
  media?: Message["media"] | undefined;
}): number {
  return media.reduce((sum, picture) => sum + picture.data.length, data.byteLength);
}

function isFilled(place: Place): place is FilledPlace {
  return place.message !== null;
}

function full(held: string): Fault {
  const hint = "send again when its process has received some";
  return new Fault({ code: "UNAVAILABLE", message: `the mailbox is full: ${held}`, hint });
}

function crowded(): Fault {
  const message = `too many calls wait for a message: ${LIMITS.mailboxReceivers}`;
  return new Fault({ code: "UNAVAILABLE", message });
}

export function disturbed(): Fault {
  return new Fault({ code: "CANCELLED", message: "there is something else to do first" });
}

function closed(): Fault {
  return new Fault({ code: "CANCELLED", message: "the mailbox is closed" });
}
