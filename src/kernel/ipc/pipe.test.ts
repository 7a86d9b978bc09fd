import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Act, OpenFile } from "../../abi/device.ts";
import { asCallId } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";
import { makePipe } from "./pipe.ts";

const NEVER = new AbortController().signal;
const FULL = LIMITS.pipeBytes;
const ATOMIC = LIMITS.pipeAtomicBytes;

const actOf = (signal: AbortSignal): Act => ({ signal, callId: asCallId("c_1"), sys: {} as Syscalls });
const write = (file: OpenFile, data: Uint8Array, signal = NEVER): Promise<void> =>
  file.write(data, actOf(signal));
const bytes = (length: number, value = 1): Uint8Array => new Uint8Array(length).fill(value);

/** `"pending"`, `"done"`, or how it failed. */
function track(promise: Promise<unknown>): { state: string; taken: number } {
  const seen = { state: "pending", taken: 0 };
  promise.then(
    () => {
      seen.state = "done";
    },
    (error: { code?: string; message: string }) => {
      seen.state = `${error.code ?? "-"} ${error.message}`;
      seen.taken = Number(/: (\d+) of/.exec(error.message)?.[1] ?? 0);
    },
  );
  return seen;
}

/** What was promised has been said; nothing here waits for more. */
const said = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function readAll(reader: OpenFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = await reader.read(10_000, NEVER);
    if (chunk.byteLength === 0) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}

describe("a pipe", () => {
  test("gives what was written, in order, then its end", async () => {
    const { reader, writer } = makePipe();
    await write(writer, Buffer.from("one "));
    await write(writer, Buffer.from("two"));
    await writer.close();
    await writer.close();
    expect((await readAll(reader)).toString()).toBe("one two");
    expect((await reader.read(1, NEVER)).byteLength).toBe(0);
  });

  test("holds a reader until something comes", async () => {
    const { reader, writer } = makePipe();
    const read = reader.read(100, NEVER);
    const seen = track(read);
    await said();
    expect(seen.state).toBe("pending");
    await write(writer, Buffer.from("x"));
    expect(Buffer.from(await read).toString()).toBe("x");
  });

  test("holds its writer at 64 KiB, and no byte more", async () => {
    const { reader, writer } = makePipe();
    await write(writer, bytes(FULL));
    const held = track(write(writer, bytes(1)));
    await said();
    expect([held.state, (await reader.stat()).size]).toEqual(["pending", FULL]);
    expect((await reader.read(1, NEVER)).byteLength).toBe(1);
    await said();
    expect([held.state, (await reader.stat()).size]).toEqual(["done", FULL]);
  });

  test("takes up to 4,096 bytes whole or not at all, more as room comes", async () => {
    const { reader, writer } = makePipe();
    await write(writer, bytes(FULL - ATOMIC + 1));
    const stop = new AbortController();
    const whole = track(write(writer, bytes(ATOMIC), stop.signal));
    await said();
    expect((await reader.stat()).size).toBe(FULL - ATOMIC + 1);
    stop.abort();
    await said();
    expect(whole.state).toBe(`CANCELLED cancelled: 0 of ${ATOMIC} bytes went into the pipe`);
    const cut = new AbortController();
    const larger = track(write(writer, bytes(ATOMIC + 1), cut.signal));
    await said();
    expect((await reader.stat()).size).toBe(FULL);
    cut.abort();
    await said();
    expect(larger.state).toBe(`CANCELLED cancelled: ${ATOMIC - 1} of ${ATOMIC + 1} bytes went into the pipe`);
    await writer.close();
    expect((await readAll(reader)).byteLength).toBe(FULL);
  });

  test("is broken for its writers when its reader is gone", async () => {
    const { reader, writer, addWriter } = makePipe("pipe:[3]");
    await write(writer, bytes(FULL));
    const held = [track(write(writer, bytes(1))), track(write(addWriter(), bytes(100_000)))];
    await reader.close();
    await said();
    expect(held.map(({ state }) => state)).toEqual(["DRIVER broken pipe", "DRIVER broken pipe"]);
    await expect(write(writer, bytes(0))).rejects.toMatchObject({
      code: "DRIVER",
      message: "broken pipe",
      device: "pipe:[3]",
      op: "Write",
    });
  });

  test("ends for its reader when the last of its writers is closed", async () => {
    const { reader, writer, addWriter } = makePipe();
    const second = addWriter();
    const read = reader.read(1, NEVER);
    await writer.close();
    const seen = track(read);
    await said();
    expect(seen.state).toBe("pending");
    await second.close();
    expect((await read).byteLength).toBe(0);
  });

  test("close() of an end ends what is under way on it", async () => {
    const { reader, writer, addWriter } = makePipe();
    await write(writer, bytes(FULL));
    const [mine, other] = [track(write(writer, bytes(2))), track(write(addWriter(), bytes(3)))];
    await writer.close();
    await said();
    expect([mine.state, other.state]).toEqual([
      "CANCELLED cancelled: 0 of 2 bytes went into the pipe",
      "pending",
    ]);
    const empty = makePipe();
    const read = track(empty.reader.read(1, NEVER));
    await empty.reader.close();
    await reader.close();
    await said();
    expect(read.state).toBe("CANCELLED the pipe was closed");
  });

  test("a read that is given up takes nothing; one that has its bytes has them", async () => {
    const { reader, writer } = makePipe();
    const [early, late] = [new AbortController(), new AbortController()];
    const first = track(reader.read(1, early.signal));
    const second = reader.read(1, late.signal);
    early.abort(new Error("gave up"));
    await write(writer, Buffer.from("x"));
    late.abort();
    await said();
    expect(first.state).toBe("- gave up");
    expect(Buffer.from(await second).toString()).toBe("x");
    await expect(reader.read(1, AbortSignal.abort(new Error("gave up")))).rejects.toThrow("gave up");
    await expect(write(writer, bytes(1), AbortSignal.abort(new Error("gave up")))).rejects.toThrow("gave up");
    expect((await reader.stat()).size).toBe(0);
  });

  test("each end refuses what is for the other", async () => {
    const { reader, writer } = makePipe();
    await expect(write(reader, bytes(1))).rejects.toMatchObject({ code: "INVALID" });
    await expect(writer.read(1, NEVER)).rejects.toMatchObject({ code: "INVALID" });
    expect(await writer.stat()).toEqual({ name: "pipe", size: 0, isDevice: false, devicePath: "pipe" });
  });

  test("leaves nothing on the signals it was given", async () => {
    const { reader, writer } = makePipe();
    const stop = new AbortController();
    const counted = { added: 0, removed: 0 };
    const { addEventListener, removeEventListener } = stop.signal;
    stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      counted.added++;
      addEventListener.apply(stop.signal, args);
    };
    stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      counted.removed++;
      removeEventListener.apply(stop.signal, args);
    };
    const read = reader.read(8, stop.signal);
    await write(writer, bytes(8), stop.signal);
    await read;
    expect(counted).toEqual({ added: 2, removed: 2 });
  });

  test("writes of 4,096 bytes of 8 writers are never mixed", async () => {
    const { reader, writer, addWriter } = makePipe();
    const ends = [writer, ...Array.from({ length: 7 }, () => addWriter())];
    const written = ends.map(async (end, n) => {
      for (let i = 0; i < 40; i++) await write(end, bytes(ATOMIC, n * 40 + i));
      await end.close();
    });
    const all = await readAll(reader);
    await Promise.all(written);
    expect(all.byteLength).toBe(8 * 40 * ATOMIC);
    for (let at = 0; at < all.byteLength; at += ATOMIC) {
      const chunk = all.subarray(at, at + ATOMIC);
      expect(chunk.equals(bytes(ATOMIC, chunk[0]))).toBe(true);
    }
  });
});

type Kind = "write" | "read" | "giveUp" | "close" | "closeReader";
const WEIGHTS: Record<Kind, number> = { write: 10, read: 6, giveUp: 3, close: 1, closeReader: 1 };
const LENGTHS = [0, 1, 700, ATOMIC - 1, ATOMIC, ATOMIC + 1, 30_000, FULL, FULL + 5_000];
const kinds = Object.keys(WEIGHTS) as Kind[];
const move = fc.record({
  kind: fc.constantFrom(...kinds.flatMap((kind) => Array<Kind>(WEIGHTS[kind]).fill(kind))),
  who: fc.nat(2),
  length: fc.constantFrom(...LENGTHS),
});
/** Bytes that tell where they come from. */
const NOISE = Buffer.from(Array.from({ length: FULL * 4 }, (_, n) => (n * 2_654_435_761) >>> 24));

async function play(moves: readonly { kind: Kind; who: number; length: number }[]): Promise<void> {
  const { reader, writer, addWriter } = makePipe();
  const ends = [writer, addWriter(), addWriter()];
  const writes: { data: Buffer; stop: AbortController; seen: ReturnType<typeof track> }[] = [];
  const reads: Promise<Uint8Array>[] = [];
  const closed = new Set<OpenFile>();
  const close = (file: OpenFile): void => {
    closed.add(file);
    void file.close();
  };
  const acts: Record<Kind, (who: number, length: number) => void> = {
    write: (who, length) => {
      const from = (writes.length * 7_919) % FULL;
      const [data, stop] = [NOISE.subarray(from, from + length), new AbortController()];
      const end = ends[who] as OpenFile;
      // a file that is closed is written to no more: the fd table sees to it
      if (!closed.has(end)) writes.push({ data, stop, seen: track(write(end, data, stop.signal)) });
    },
    read: (_who, length) => {
      if (!closed.has(reader)) reads.push(reader.read(length + 1, NEVER));
    },
    giveUp: (who) => writes.at(-1 - who)?.stop.abort(),
    close: (who) => close(ends[who] as OpenFile),
    closeReader: () => close(reader),
  };
  for (const { kind, who, length } of moves) {
    acts[kind](who, length);
    expect((await reader.stat()).size).toBeLessThanOrEqual(FULL);
  }
  for (const end of ends) await end.close();
  const settled = await Promise.allSettled(reads);
  const before = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const isWhole = !closed.has(reader);
  const read = Buffer.concat(isWhole ? [...before, await readAll(reader)] : before);
  await said();
  const parts = writes.map(({ data, seen }) => {
    if (seen.state === "done" || (seen.state === "DRIVER broken pipe" && !isWhole)) return data;
    expect(seen.state).toContain("CANCELLED");
    if (data.byteLength <= ATOMIC) expect(seen.taken).toBe(0);
    return data.subarray(0, seen.taken);
  });
  const written = Buffer.concat(parts);
  expect(read.equals(isWhole ? written : written.subarray(0, read.byteLength))).toBe(true);
}

test("any writes, reads, aborts and closes: bytes in order, small writes whole, the bound kept", async () => {
  await fc.assert(fc.asyncProperty(fc.array(move, { maxLength: 14, size: "max" }), play), {
    numRuns: 10_000,
  });
});
