import fc from "fast-check";
import { expect, test } from "vitest";
import { anyChar } from "../lib/testing/any-char.ts";
import { decodeText, encodeText } from "./encoding.ts";

test("decodeText and encodeText: every file comes back byte for byte", () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  const nearText = fc
    .array(
      fc.oneof(
        fc.string({ unit: anyChar }).map((text) => Buffer.from(text)),
        bytes.map(Buffer.from),
      ),
      {
        maxLength: 6,
      },
    )
    .map((parts) => Buffer.concat(parts));
  const mark = fc.constantFrom([], [0xff, 0xfe], [0xfe, 0xff], [0xef, 0xbb, 0xbf]);
  fc.assert(
    fc.property(mark, nearText, (start, rest) => {
      const file = Buffer.concat([Buffer.from(start), rest]);
      const { text, encoding } = decodeText(file);
      expect(encodeText(text, encoding)).toEqual(file);
    }),
  );
});

test.each([
  [Buffer.from("h\u00e9 \u2192"), "UTF-8", "h\u00e9 \u2192"],
  [Buffer.from("\ufeffh\u00e9", "utf16le"), "UTF-16LE", "\ufeffh\u00e9"],
  [Buffer.from("\ufeffh\u00e9", "utf16le").swap16(), "UTF-16BE", "\ufeffh\u00e9"],
  [Buffer.from("caf\u00e9 \u00fcber", "latin1"), "Windows-1252", "caf\u00e9 \u00fcber"],
  [Buffer.from([0x93, 0x68, 0x69, 0x94, 0x20, 0x80]), "Windows-1252", "\u201chi\u201d \u20ac"],
  [Buffer.from([0xc3, 0xa9, 0x20, 0xe9]), "damaged UTF-8", "\u00e9 \udce9"],
] as const)("decodeText(%j) is %s", (bytes, encoding, text) => {
  expect(decodeText(bytes)).toEqual({ encoding, text });
});

test("encodeText names the character that an encoding has not", () => {
  expect(encodeText("a \u2192 b", "Windows-1252")).toEqual({ unfit: "\u2192" });
  expect(encodeText("\u{1f600}", "Windows-1252")).toEqual({ unfit: "\u{1f600}" });
});
