/**
 * The messages for one process, oldest first. Bounded by `mailboxMessages` and `mailboxBytes`: a full box refuses
 * (UNAVAILABLE) and stores nothing; it drops none to make room, so what a sender was told has arrived. A place is claimed
 * before its message is journalled: whatever the journal answers first, the order in the box is that of the claims.
 */
import { Fault } from "../../abi/errors.ts";
import type { Message } from "../../abi/mail.ts";
import { reasonOf } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";

/** Whether a message is for who asks. */
export type Wanted = (message: Message) => boolean;

/** Room in a box for one message that is being journalled. Exactly one of the two is called. */
export interface MailPlace {
  fill(message: Message): void;
  /** It was not stored. */
  giveBack(): void;
}

interface Place {
  readonly bytes: number;
  /** null while it is being journalled: later ones wait behind it. */
  message: Message | null;
}

type FilledPlace = Place & { readonly message: Message };

interface Watch {
  readonly wants: Wanted;
  readonly told: () => void;
}

interface Receiver {
  readonly wants: Wanted;
  readonly deliver: (message: Message) => void;
  readonly refuse: (error: Error) => void;
}

export class Mailbox {
  readonly #places: Place[] = [];
  /** In order of asking. Any are there only while no message is ready. */
  readonly #receivers = new Set<Receiver>();
  readonly #watches = new Set<Watch>();
  #bytes = 0;
  #closed = false;

  /** Messages that are there to be taken, or are being journalled. */
  get size(): number {
    return this.#places.length;
  }

  /** The oldest is there to be taken. */
  get isReady(): boolean {
    return (this.#places[0]?.message ?? null) !== null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The oldest that is wanted is there to be taken: none that is being journalled stands before it. */
  has(wants: Wanted): boolean {
    return this.#find(wants) !== undefined;
  }

  /** Told as soon as one that is wanted can be taken, at once if it is there; nothing is taken. The result ends it. */
  watch(wants: Wanted, told: () => void): () => void {
    const watch = { wants, told };
    this.#watches.add(watch);
    this.#tellWatches();
    return () => void this.#watches.delete(watch);
  }

  /** One that was there and is not taken any more; undefined: it is not there to be taken. */
  withdraw(seq: number): Message | undefined {
    const place = this.#places.find(({ message }) => message?.seq === seq);
    if (place === undefined) return undefined;
    this.#giveBack(place);
    return place.message ?? undefined;
  }

  /** Back to its place, by its number. */
  putBack(message: Message): void {
    const after = this.#places.findIndex((place) => (place.message?.seq ?? Infinity) > message.seq);
    const place = { bytes: message.data.byteLength, message };
    this.#places.splice(after < 0 ? this.#places.length : after, 0, place);
    this.#bytes += place.bytes;
    this.#serve();
  }

  claim(bytes: number): MailPlace {
    if (this.#places.length >= LIMITS.mailboxMessages) throw full(`${LIMITS.mailboxMessages} messages`);
    if (this.#bytes + bytes > LIMITS.mailboxBytes) throw full(`${this.#bytes} bytes of messages`);
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

  /** One that an earlier daemon stored and nobody took; it was within the bounds then. In order, before any is sent. */
  restore(message: Message): void {
    this.#add({ bytes: message.data.byteLength, message });
    this.#serve();
  }

  /**
   * The oldest; waits for one. Rejects CANCELLED when the box closes, with the signal's reason when that fires first: then
   * the message stays for the next who asks.
   */
  take(signal: AbortSignal, wants: Wanted = anything): Promise<Message> {
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

  /** What was not taken is gone; who waits hears CANCELLED. Idempotent. */
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

  /** One that is being journalled may turn out to be wanted: nothing overtakes it. */
  #find(wants: Wanted): FilledPlace | undefined {
    for (const place of this.#places) {
      if (!isFilled(place)) return undefined;
      if (wants(place.message)) return place;
    }
    return undefined;
  }
}

const anything: Wanted = () => true;

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

function closed(): Fault {
  return new Fault({ code: "CANCELLED", message: "the mailbox is closed" });
}
