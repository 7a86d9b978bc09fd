import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { PACKET } from "../../abi/ipc.ts";
import { encodeFrame, FrameDecoder } from "./frame.ts";

const header = (bytes: readonly number[], length: number): Buffer => {
  const head = Buffer.from([...bytes, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 4);
  return head;
};

describe("FrameDecoder", () => {
  it("finds the same frames however they are cut and joined", () => {
    const frames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 700 })), (payloads, cuts) => {
        const all = Buffer.concat(payloads.map((payload) => encodeFrame(PACKET.request, payload)));
        const decoder = new FrameDecoder();
        const found = [];
        for (let at = 0, n = 0; at < all.length; n++) {
          const end = Math.min(all.length, at + (cuts[n] ?? 1));
          found.push(...decoder.push(all.subarray(at, end)));
          at = end;
        }
        expect(found.map((each) => (each.kind === "frame" ? [...each.payload] : each))).toEqual(
          payloads.map((payload) => [...payload]),
        );
        expect(decoder.pending).toBe(0);
      }),
    );
  });

  it("puts a frame of output together once: it is copied into one buffer, which nothing writes to again", () => {
    const frames = [65_700, 65_800, 70_000].map((length, n) =>
      encodeFrame(PACKET.chunk, Buffer.alloc(length, 97 + n)),
    );
    const all = Buffer.concat(frames);
    const decoder = new FrameDecoder();
    const [allocate, copy] = [vi.spyOn(Buffer, "allocUnsafe"), vi.spyOn(Buffer, "from")];
    const found = [];
    for (let at = 0; at < all.length; at += 40_000)
      found.push(...decoder.push(all.subarray(at, at + 40_000)));
    const counts = [allocate.mock.calls.length, copy.mock.calls.length];
    vi.restoreAllMocks();
    expect(counts).toEqual([3, 0]);
    expect(found.map((each) => each.kind === "frame" && encodeFrame(each.type, each.payload))).toEqual(
      frames,
    );
  });

  it.each([
    ["wrong magic", [0x4b, 0x42, 1, 1], 1, { kind: "broken" }],
    ["a type of 0", [0x4b, 0x41, 1, 0], 1, { kind: "broken" }],
    ["a type of 5", [0x4b, 0x41, 1, 5], 1, { kind: "broken" }],
    ["a length of 0", [0x4b, 0x41, 1, 1], 0, { kind: "broken" }],
    ["version 2", [0x4b, 0x41, 2, 1], 1, { kind: "version", version: 2 }],
    ["one byte too many", [0x4b, 0x41, 1, 1], 10_485_761, { kind: "too_large", bytes: 10_485_761 }],
  ] as const)("judges %s by the header alone, once, and reads no more", (_name, head, length, fault) => {
    const decoder = new FrameDecoder();
    const bytes = header(head, length);
    expect(decoder.push(bytes.subarray(0, 7))).toEqual([]);
    expect(decoder.push(bytes.subarray(7))).toEqual([fault]);
    expect(decoder.push(encodeFrame(PACKET.request, Buffer.from("a")))).toEqual([]);
    expect(decoder.pending).toBe(0);
  });
});
