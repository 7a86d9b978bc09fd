import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import { LIMITS } from "../limits.ts";
import { Mailbox, type MailPlace } from "./mailbox.ts";

const NEVER = new AbortController().signal;
const SMALL: Uint8Array = new Uint8Array(1);
const LARGE: Uint8Array = new Uint8Array(LIMITS.mailBytes);

const message = (seq: number, data = SMALL): Message => ({
  seq,
  from: asPid(1),
  to: asPid(2),
  data,
  sentAt: 0,
});

function boxOf(...seqs: number[]): Mailbox {
  const box = new Mailbox();
  for (const seq of seqs) box.claim(1).fill(message(seq));
  return box;
}

/** What came of a take: its seq, or why there was none. */
async function outcome(taken: Promise<Message>): Promise<number | string> {
  return taken.then(
    ({ seq }) => seq,
    (error: { code?: string; message: string }) => String(error.code ?? error.message),
  );
}

describe("Mailbox", () => {
  test("gives the oldest first", async () => {
    const box = boxOf(1, 2, 3);
    expect([(await box.take(NEVER)).seq, box.tryTake()?.seq, box.tryTake()?.seq]).toEqual([1, 2, 3]);
    expect([box.tryTake(), box.size, box.bytes]).toEqual([undefined, 0, 0]);
  });

  test("serves those who wait in the order in which they came", async () => {
    const box = new Mailbox();
    const taken = [1, 2, 3].map(() => box.take(NEVER));
    for (const seq of [7, 8, 9]) box.claim(1).fill(message(seq));
    expect(await Promise.all(taken.map(outcome))).toEqual([7, 8, 9]);
  });

  test("keeps the order of the claims, whatever the journal answers first", async () => {
    const box = new Mailbox();
    const places = [1, 2, 3].map(() => box.claim(1));
    const taken = [box.take(NEVER), box.take(NEVER)];
    places[2]?.fill(message(3));
    expect(box.tryTake()).toBeUndefined();
    places[0]?.fill(message(1));
    places[1]?.giveBack();
    expect(await Promise.all(taken.map(outcome))).toEqual([1, 3]);
    expect([box.size, box.bytes]).toEqual([0, 0]);
  });

  test("refuses the 1,025th message, and stores nothing of it", () => {
    const box = boxOf(...Array(LIMITS.mailboxMessages).keys());
    expect(() => box.claim(0)).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: "the mailbox is full: 1024 messages" }),
    );
    expect(box.size).toBe(1_024);
    box.tryTake();
    box.claim(0).giveBack();
    box.claim(0);
  });

  test("refuses what is over 16 MiB in all, claimed ones counted", () => {
    const box = new Mailbox();
    const places = Array.from({ length: 64 }, () => box.claim(LIMITS.mailBytes));
    expect(box.bytes).toBe(LIMITS.mailboxBytes);
    expect(() => box.claim(1)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    box.claim(0).giveBack();
    places[9]?.giveBack();
    expect(() => box.claim(LIMITS.mailBytes)).not.toThrow();
  });

  test("the 257th who waits is refused; one that leaves makes room", async () => {
    const box = new Mailbox();
    const stop = new AbortController();
    const first = box.take(stop.signal);
    const others = Array.from({ length: LIMITS.mailboxReceivers - 1 }, () => outcome(box.take(NEVER)));
    expect(await outcome(box.take(NEVER))).toBe("UNAVAILABLE");
    stop.abort(new Error("gave up"));
    expect(await outcome(first)).toBe("gave up");
    const last = outcome(box.take(NEVER));
    box.close();
    expect([...new Set(await Promise.all([...others, last]))]).toEqual(["CANCELLED"]);
  });

  test("a place can be given back once", () => {
    const box = boxOf(1);
    const place = box.claim(5);
    place.giveBack();
    place.giveBack();
    expect([box.size, box.bytes]).toEqual([1, 1]);
  });

  test("who gives up before the message comes takes none: the next gets it", async () => {
    const box = new Mailbox();
    const stop = new AbortController();
    const [first, second] = [box.take(stop.signal), box.take(NEVER)];
    stop.abort(new Error("gave up"));
    box.claim(1).fill(message(1));
    expect([await outcome(first), await outcome(second)]).toEqual(["gave up", 1]);
  });

  test("who gives up in the same turn, after it came, has it", async () => {
    const box = new Mailbox();
    const stop = new AbortController();
    const taken = box.take(stop.signal);
    box.claim(1).fill(message(1));
    stop.abort();
    expect(await outcome(taken)).toBe(1);
  });

  test("one that has given up already leaves what is there", async () => {
    const box = boxOf(1);
    expect(await outcome(box.take(AbortSignal.abort(new Error("gave up"))))).toBe("gave up");
    expect(box.size).toBe(1);
  });

  test("close() refuses those who wait and those who come, and forgets the rest", async () => {
    const box = new Mailbox();
    const taken = box.take(NEVER);
    const place = box.claim(1);
    box.close();
    box.close();
    place.fill(message(1));
    expect([await outcome(taken), await outcome(box.take(NEVER))]).toEqual(["CANCELLED", "CANCELLED"]);
    expect([box.tryTake(), box.size, box.bytes]).toEqual([undefined, 0, 0]);
  });

  test("restore() puts back what an earlier daemon stored, before what is sent", async () => {
    const box = new Mailbox();
    for (const seq of [4, 6]) box.restore(message(seq, LARGE));
    box.claim(1).fill(message(9));
    expect(box.bytes).toBe(2 * LIMITS.mailBytes + 1);
    expect([box.tryTake()?.seq, box.tryTake()?.seq, box.tryTake()?.seq]).toEqual([4, 6, 9]);
  });
});

/** What the box should be: places in order, and who waits. */
class Model {
  readonly places: { seq: number; bytes: number; filled: boolean }[] = [];
  readonly waiting: number[] = [];
  readonly outcomes = new Map<number, number | string>();
  closed = false;

  get bytes(): number {
    return this.places.reduce((sum, place) => sum + place.bytes, 0);
  }

  serve(): void {
    while (this.places[0]?.filled === true && this.waiting.length > 0)
      this.outcomes.set(this.waiting.shift() as number, this.places.shift()?.seq as number);
  }

  ready(): number | undefined {
    return this.places[0]?.filled === true ? this.places.shift()?.seq : undefined;
  }
}

type Kind = "claim" | "claimLarge" | "fill" | "giveBack" | "take" | "tryTake" | "giveUp" | "close";
const WEIGHTS: Record<Kind, number> = {
  claim: 4,
  claimLarge: 4,
  fill: 8,
  giveBack: 3,
  take: 4,
  tryTake: 2,
  giveUp: 2,
  close: 1,
};
const kinds = Object.keys(WEIGHTS) as Kind[];
const step = fc.record({
  kind: fc.constantFrom(...kinds.flatMap((kind) => Array<Kind>(WEIGHTS[kind]).fill(kind))),
  which: fc.nat(5),
});
const START = { empty: [0, SMALL], few: [1_021, SMALL], full: [62, LARGE] } as const;

async function play(
  start: keyof typeof START,
  steps: readonly { kind: Kind; which: number }[],
): Promise<void> {
  const [box, model] = [new Mailbox(), new Model()];
  const takes: { stop: AbortController; taken: Promise<number | string> }[] = [];
  const open: { place: MailPlace; seq: number; data: Uint8Array }[] = [];
  let seq = 0;
  for (; seq < START[start][0]; seq++) {
    const data = START[start][1];
    box.claim(data.byteLength).fill(message(seq, data));
    model.places.push({ seq, bytes: data.byteLength, filled: true });
  }
  const acts: Record<Kind, (which: number) => void> = {
    claim: () => claim(SMALL),
    claimLarge: () => claim(LARGE),
    fill: (which) => settle("fill", which),
    giveBack: (which) => settle("giveBack", which),
    take,
    tryTake: () => expect(box.tryTake()?.seq).toBe(model.ready()),
    giveUp,
    close,
  };
  for (const { kind, which } of steps) {
    acts[kind](which);
    expect([box.size, box.bytes]).toEqual([model.places.length, model.bytes]);
    expect(box.size <= LIMITS.mailboxMessages && box.bytes <= LIMITS.mailboxBytes).toBe(true);
  }
  close();
  for (const [n, { taken }] of takes.entries()) expect(await taken).toBe(model.outcomes.get(n));

  function claim(data: Uint8Array): void {
    if (model.closed) return;
    const fits = model.places.length < 1_024 && model.bytes + data.byteLength <= 16 * 1024 * 1024;
    let place: MailPlace | undefined;
    try {
      place = box.claim(data.byteLength);
    } catch (error) {
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
    }
    expect(place !== undefined).toBe(fits);
    if (place === undefined) return;
    open.push({ place, seq, data });
    model.places.push({ seq: seq++, bytes: data.byteLength, filled: false });
  }

  function settle(how: "fill" | "giveBack", which: number): void {
    const [one] = open.splice(which, 1);
    if (one === undefined) return;
    if (how === "fill") one.place.fill(message(one.seq, one.data));
    else one.place.giveBack();
    const at = model.places.findIndex((place) => place.seq === one.seq);
    const place = model.places[at];
    if (place === undefined) return;
    if (how === "fill") place.filled = true;
    else model.places.splice(at, 1);
    model.serve();
  }

  function take(): void {
    const stop = new AbortController();
    const n = takes.push({ stop, taken: outcome(box.take(stop.signal)) }) - 1;
    const ready = model.ready();
    if (ready !== undefined) model.outcomes.set(n, ready);
    else if (model.closed) model.outcomes.set(n, "CANCELLED");
    else model.waiting.push(n);
  }

  function giveUp(which: number): void {
    takes[which]?.stop.abort(new Error("gave up"));
    const at = model.waiting.indexOf(which);
    if (at < 0) return;
    model.waiting.splice(at, 1);
    model.outcomes.set(which, "gave up");
  }

  function close(): void {
    box.close();
    model.closed = true;
    model.places.length = 0;
    for (const n of model.waiting.splice(0)) model.outcomes.set(n, "CANCELLED");
  }
}

test("any order of claims, answers, takes, aborts and the end: bounds and order as in the model", async () => {
  const start = fc.oneof(
    { weight: 20, arbitrary: fc.constant("empty" as const) },
    { weight: 1, arbitrary: fc.constant("few" as const) },
    { weight: 4, arbitrary: fc.constant("full" as const) },
  );
  await fc.assert(fc.asyncProperty(start, fc.array(step, { maxLength: 24, size: "max" }), play), {
    numRuns: 10_000,
  });
});

describe("one who wants only some", () => {
  const said = (seq: number, client: string) => ({
    seq,
    from: 0 as never,
    to: 1 as never,
    data: new Uint8Array(1),
    sentAt: 0,
    client,
  });
  const of = (client: string) => (message: { client?: string }) => message.client === client;

  test("gets the oldest of those, and nothing that stands behind one that is being journalled", () => {
    const box = new Mailbox();
    box.claim(1).fill(said(1, "a"));
    const unknown = box.claim(1);
    box.claim(1).fill(said(3, "b"));
    expect([box.has(of("a")), box.has(of("b"))]).toEqual([true, false]);
    expect(box.tryTake(of("b"))).toBeUndefined();
    unknown.fill(said(2, "b"));
    expect([box.tryTake(of("b"))?.seq, box.tryTake()?.seq, box.tryTake()?.seq]).toEqual([2, 1, 3]);
    expect([box.size, box.bytes]).toEqual([0, 0]);
  });

  test("gets the notice of an end after all that was said, but nothing past what is being journalled", () => {
    const box = new Mailbox();
    box.claim(1).fill({ ...message(1), notice: asPid(9) });
    box.claim(1).fill(message(2));
    const unknown = box.claim(1);
    box.claim(1).fill(message(4));
    expect([box.tryTake()?.seq, box.tryTake()?.seq, box.tryTake()]).toEqual([2, 1, undefined]);
    unknown.giveBack();
    expect(box.tryTake()?.seq).toBe(4);
  });

  test("what is withdrawn is gone, and what is put back is where it was", () => {
    const box = new Mailbox();
    for (const seq of [1, 2, 3]) box.claim(1).fill(said(seq, "a"));
    const taken = box.withdraw(2);
    expect([taken?.seq, box.withdraw(2), box.size]).toEqual([2, undefined, 2]);
    box.putBack(taken!);
    expect([box.tryTake()?.seq, box.tryTake()?.seq, box.tryTake()?.seq]).toEqual([1, 2, 3]);
  });
});
