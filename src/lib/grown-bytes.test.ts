import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, type GrownBytes, grownBy, joined, NO_BYTES } from "./grown-bytes.ts";

test("grownBy() gives the text with its new end, and changes nothing that grew from the same beginning", () => {
  const step = fc.record({ from: fc.nat(), text: fc.string({ unit: "grapheme", maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const all: { bytes: GrownBytes; text: string }[] = [{ bytes: NO_BYTES, text: "" }];
      for (const { from, text } of steps) {
        const before = all[from % all.length] as (typeof all)[number];
        all.push({ bytes: grownBy(before.bytes, text), text: before.text + text });
      }
      for (const { bytes, text } of all) expect(bytesOf(bytes).toString()).toBe(text);
    }),
  );
});

test("grownBy() copies what is there a few times only, however often it grows", () => {
  const buffers = new Set<Buffer>();
  let bytes = NO_BYTES;
  for (let n = 0; n < 10_000; n++) {
    bytes = grownBy(bytes, "a message");
    buffers.add(bytes.buffer);
  }
  expect(buffers.size).toBeLessThan(60);
  expect(bytes.buffer.byteLength).toBeLessThan(bytes.length * 1.3);
});

test("joined() is in a piece of its own", () => {
  const bytes = grownBy(NO_BYTES, "é");
  const whole = joined(["<", bytes, ">"]);
  bytes.buffer.fill(0);
  expect(whole.toString()).toBe("<é>");
});
