import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyChar } from "../../lib/testing/any-char.ts";
import { encodeLine, encodeSyscallEvent, formatDuration, LineDecoder, parseLine } from "./ndjson.ts";

function decodeAll(decoder: LineDecoder, chunks: readonly Buffer[]): string[] {
  return chunks
    .flatMap((chunk) => decoder.push(chunk))
    .map((item) => (item.kind === "line" ? item.line.toString() : "<too long>"));
}

describe("encodeLine()", () => {
  it("writes no blanks and leaves absent keys out", () => {
    expect(encodeLine({ ok: true, payload: { pid: 1, x: undefined } })).toBe(
      '{"ok":true,"payload":{"pid":1}}\n',
    );
  });
});

describe("encodeSyscallEvent()", () => {
  it("gives the manual's line, extra keys after duration_ms", () => {
    const event = { timestamp_ms: 13, pid: 1, syscall: "Open", args: { flags: 2, path: "/dev/llm/claude" } };
    const plain =
      '{"type":"syscall_event","payload":{"timestamp_ms":13,"pid":1,"syscall":"Open","args":{"flags":2,"path":"/dev/llm/claude"},"result":3,"duration_ms":1.0';
    expect(encodeSyscallEvent({ ...event, result: 3, duration_ms: 1 })).toBe(`${plain}}}\n`);
    expect(encodeSyscallEvent({ ...event, result: 3, duration_ms: 1, device: "/dev/fs", quiet: true })).toBe(
      `${plain},"device":"/dev/fs","quiet":true}}\n`,
    );
  });

  it("durations have one to three decimals", () => {
    const samples = [1, 5200, 0.042, 0, 0.5, 10, 1.25, 100.1, 0.0004, 1.9996];
    expect(samples.map(formatDuration)).toEqual(
      "1.0 5200.0 0.042 0.0 0.5 10.0 1.25 100.1 0.0 2.0".split(" "),
    );
  });
});

describe("LineDecoder", () => {
  it("gives the same lines however the bytes are cut", () => {
    const line = fc.string({ unit: anyChar, maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ""));
    const end = fc.constantFrom("\n", "\r\n", "\n\n");
    void fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), fc.array(fc.nat(60)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, eol]) => text + eol).join(""));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(at, at + cut));
          at = Math.min(at + cut, bytes.length);
        }
        chunks.push(bytes.subarray(at));
        const wanted = lines.map(([text]) => Buffer.from(text).toString()).filter((text) => text !== "");
        expect(decodeAll(new LineDecoder(1000), chunks)).toEqual(wanted);
      }),
    );
  });

  it("allows a line of exactly the limit and tells a longer one before its end", () => {
    expect(decodeAll(new LineDecoder(4), [Buffer.from("1234\n")])).toEqual(["1234"]);
    const decoder = new LineDecoder(4);
    expect(decodeAll(decoder, [Buffer.from("ab\n123"), Buffer.from("45")])).toEqual(["ab", "<too long>"]);
    expect(decoder.pending).toBe(0);
    expect(decodeAll(decoder, [Buffer.from("\nok\n")])).toEqual([]);
  });

  it("takes a long line in single bytes without copying it over and over", () => {
    const decoder = new LineDecoder(1 << 20);
    const byte = Buffer.from("x");
    for (let i = 0; i < 200_000; i++) decoder.push(byte);
    expect(decoder.pending).toBe(200_000);
    expect(decodeAll(decoder, [Buffer.from("\n")])[0]).toHaveLength(200_000);
    expect(decoder.pending).toBe(0);
  });

  it("a finished line stays as it was when the next one comes", () => {
    const decoder = new LineDecoder(100);
    decoder.push(Buffer.from("aa"));
    const [first] = decoder.push(Buffer.from("a\nbbb"));
    decoder.push(Buffer.from("b\n"));
    expect(first?.kind === "line" && first.line.toString()).toBe("aaa");
  });
});

describe("parseLine()", () => {
  it("reads JSON and refuses what is not UTF-8 or not JSON", () => {
    expect(parseLine(Buffer.from('{"a":"分"}'))).toEqual({ a: "分" });
    expect(() => parseLine(Buffer.from([0x22, 0xff, 0x22]))).toThrow("not UTF-8");
    expect(() => parseLine(Buffer.from("{"))).toThrow(SyntaxError);
  });
});
