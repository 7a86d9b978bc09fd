/**
 * The messages for one process, oldest first. Bounded by `mailboxMessages` and `mailboxBytes`: a full box refuses
 * (UNAVAILABLE) and stores nothing; it drops none to make room, so what a sender was told has arrived. A place is claimed
 * before its message is journalled: whatever the journal answers first, the order in the box is that of the claims.
 */
import { Fault } from "../../abi/errors.ts";
import type { Message } from "../../abi/mail.ts";
import { reasonOf } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";

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

interface Receiver {
  readonly deliver: (message: Message) => void;
  readonly refuse: (error: Error) => void;
}

export class Mailbox {
  readonly #places: Place[] = [];
  /** In order of asking. Any are there only while no message is ready. */
  readonly #receivers = new Set<Receiver>();
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
  take(signal: AbortSignal): Promise<Message> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const ready = this.tryTake();
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.#closed) return Promise.reject(closed());
    if (this.#receivers.size >= LIMITS.mailboxReceivers) return Promise.reject(crowded());
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const leave = (): void => {
      this.#receivers.delete(receiver);
      signal.removeEventListener("abort", giveUp);
    };
    const receiver: Receiver = {
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

  tryTake(): Message | undefined {
    const message = this.#places[0]?.message ?? undefined;
    if (message === undefined) return undefined;
    this.#places.shift();
    this.#bytes -= message.data.byteLength;
    return message;
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
      const message = this.tryTake();
      if (message === undefined) return;
      receiver.deliver(message);
    }
  }
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
