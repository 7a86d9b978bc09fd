/** `CRUX_IPC_FRAMES` sets how many frames the fuzz makes; on a machine of CI, and by `npm run fuzz:ipc`, they are a million. */
import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { FRAME, PACKET } from "../../abi/ipc.ts";
import { encodeFrame, FrameDecoder } from "./frame.ts";
import { packBefore, packFrame } from "./msgpack.ts";
import { PackError, unpack } from "./unpack.ts";

const FRAMES = Number(process.env.CRUX_IPC_FRAMES ?? (process.env.CI ? 1_000_000 : 20_000));

const payloadOf = (message: object): Buffer => packFrame(PACKET.request, message).subarray(FRAME.headerBytes);
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

/** Any value, with integers and texts of every width. */
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc
      .tuple(fc.integer({ min: 0, max: 53 }), fc.constantFrom(-1, 1))
      // an integer has no -0
      .map(([bits, sign]) => sign * (2 ** bits - 1) + 0),
    fc.integer({ min: 0, max: 3 }).map((n) => "xä€".repeat(8 ** n)),
    fc.double({ noNaN: true }).filter((n) => !Object.is(n, -0) && !Number.isInteger(n)),
    fc.string({ unit: "grapheme" }),
    fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(
      fc.string().filter((key) => key !== "__proto__"),
      tie("value"),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
})).value;

describe("unpack()", () => {
  it("gives back what was packed, whatever it is, and so does another implementation, both ways", () => {
    fc.assert(
      fc.property(value, (each) => {
        expect(normal(unpack(payloadOf({ each })))).toEqual(normal({ each }));
        expect(normal(decode(payloadOf({ each })))).toEqual(normal({ each }));
        const bytes = Buffer.from(encode({ each }));
        expect(bytes.equals(payloadOf({ each }))).toBe(true);
        expect(normal(unpack(bytes))).toEqual(normal({ each }));
      }),
    );
  });

  it("gives copies, which later frames leave alone, and tells texts with one hash apart", () => {
    const payload = payloadOf({ data: Buffer.from("abc") });
    const { data } = unpack(payload);
    payload.fill(0);
    expect(data).toEqual(new Uint8Array([97, 98, 99]));
    // 31 * "Aa" and 31 * "BB" are the same
    for (const id of ["AaAa", "BBBB", "AaAa"]) expect(unpack(payloadOf({ id }))).toEqual({ id });
  });

  it("leaves large bytes where they are, unless they would hold much more than themselves", () => {
    const large = payloadOf({ data: new Uint8Array(64 * 1024).fill(7) });
    const { data } = unpack(large);
    expect(data).toEqual(new Uint8Array(64 * 1024).fill(7));
    expect((data as Uint8Array).buffer).toBe(large.buffer);
    const among = Buffer.concat([large, Buffer.alloc(128 * 1024)]).subarray(0, large.length);
    expect((unpack(among).data as Uint8Array).buffer).not.toBe(among.buffer);
  });

  it("takes integers of every width, and a time as an integer", () => {
    expect(unpack(hex("81 a1 61 cf 00 1f ff ff ff ff ff ff"))).toEqual({ a: Number.MAX_SAFE_INTEGER });
    expect(unpack(hex("81 a1 61 d3 ff e0 00 00 00 00 00 01"))).toEqual({ a: Number.MIN_SAFE_INTEGER });
    expect(unpack(hex("81 a1 61 d1 ff ff"))).toEqual({ a: -1 });
    expect(payloadOf({ a: 1_772_357_400_000 }).toString("hex")).toBe("81a161cf0000019ca8bbb5c0");
  });

  it.each([
    ["c0", "not a map"],
    ["90", "not a map"],
    ["81 a1", "cut off"],
    ["df ff ff ff ff", "10000 entries"],
    ["81 a1 61 dd ff ff ff ff", "10000 entries"],
    ["81 a1 61 c6 ff ff ff ff", "cut off"],
    ["81 a1 61 c1", "0xc1"],
    ["81 a1 61 d4 01 00", "extension"],
    ["81 a1 61 d6 ff 00 00 00 00", "extension"],
    ["81 01 02", "a key is not a string"],
    ["81 a1 61 01 02", "bytes after the end"],
    ["81 a1 ff 01", "not UTF-8"],
    ["81 a9 5f 5f 70 72 6f 74 6f 5f 5f 01", "__proto__"],
    ["81 a1 61 cf 00 20 00 00 00 00 00 00", "beyond"],
    ["81 a1 61 d3 ff e0 00 00 00 00 00 00", "beyond"],
    ["81 a1 61 d3 7f ff ff ff ff ff ff ff", "beyond"],
  ])("refuses %s: %s", (bytes, why) => {
    expect(() => unpack(hex(bytes))).toThrow(why);
  });

  it("allows 64 containers in each other, and no more", () => {
    const nested = (depth: number): Buffer =>
      Buffer.concat([hex("81 a1 61"), Buffer.alloc(depth - 2, 0x91), hex("90")]);
    unpack(nested(FRAME.maxDepth));
    expect(() => unpack(nested(FRAME.maxDepth + 1))).toThrow("deeper than 64");
  });
});

/** Bytes as arrays, and objects without a prototype as plain ones: for comparison. */
function normal(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return { bytes: [...(value as Uint8Array)] };
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, normal(each)]));
}

/** The same numbers in every run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const SEEDS = [
  { id: "1", method: "kernel.ping", params: {} },
  {
    id: "2",
    method: "process.spawn",
    params: { id: "a", command: ["ls", "-l"], options: { env: { A: "b" } } },
  },
  { id: "3", method: "x", params: { data: new Uint8Array(40), deep: [[[[[[1]]]]]], n: -70_000, f: 0.5 } },
  { id: "4", method: "y", meta: { idempotencyKey: "k", timeoutMs: 5_000_000_000 } },
].map((message) => packFrame(PACKET.request, message));

/** A frame of one of the kinds that a hostile or broken client sends. */
function hostile(next: (below: number) => number): Buffer {
  const frame = Buffer.from(SEEDS[next(SEEDS.length)] ?? []);
  switch (next(6)) {
    case 0:
      return frame.subarray(0, next(frame.length));
    case 1:
      frame[next(FRAME.headerBytes)] = next(256);
      return frame;
    case 2:
      for (let n = next(4) + 1; n > 0; n--) frame[FRAME.headerBytes + next(frame.length - 8)] = next(256);
      return frame;
    case 3:
      return encodeFrame(PACKET.request, Buffer.alloc(next(400) + 1, 0x80 + next(32)));
    case 4:
      return encodeFrame(PACKET.request, Buffer.from(Array.from({ length: next(64) + 1 }, () => next(256))));
    default:
      return frame;
  }
}

test(`${FRAMES} broken frames each decode, are refused in words, or end the framing`, {
  timeout: 600_000,
}, () => {
  const next = numbers(1);
  const seen = { message: 0, refused: 0, ended: 0 };
  for (let n = 0; n < FRAMES; n++) {
    const decoder = new FrameDecoder();
    const bytes = hostile(next);
    const cut = next(bytes.length + 1);
    for (const framed of [...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut))]) {
      if (framed.kind !== "frame") seen.ended++;
      else
        try {
          if (typeof unpack(framed.payload) === "object") seen.message++;
        } catch (error) {
          if (!(error instanceof PackError)) throw error;
          seen.refused++;
        }
    }
  }
  expect(Object.values(seen).every((count) => count > FRAMES / 50)).toBe(true);
});

it("packBefore() and the bytes behind it are the frame that packFrame() makes", () => {
  for (const length of [0, 1, 255, 256, 65_536]) {
    const data = new Uint8Array(length).fill(7);
    const message = { stream: "s1", seq: 3, next: length };
    const head = Buffer.alloc(100);
    const headBytes = packBefore(PACKET.chunk, message, data.length, head);
    const frame = Buffer.concat([head.subarray(0, headBytes), data]);
    expect(frame.readUInt32BE(4)).toBe(frame.length - FRAME.headerBytes);
    const got = unpack(frame.subarray(FRAME.headerBytes));
    expect({ ...got, data: Buffer.from(got.data as Uint8Array) }).toEqual({
      ...message,
      data: Buffer.from(data),
    });
  }
});
