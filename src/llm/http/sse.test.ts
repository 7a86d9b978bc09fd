import { describe, expect, it, vi } from "vitest";
import type { Body } from "./client.ts";
import { MAX_SSE_CHARS, readLines, readRest, readSse } from "./sse.ts";

function bodyOf(chunks: readonly Uint8Array[], onClose = (): void => {}): Body {
  const left = [...chunks];
  const next: Body["next"] = async () => {
    const value = left.shift();
    return value === undefined ? { done: true, value } : { done: false, value };
  };
  return { next, close: onClose };
}

async function read(text: string, size = text.length): Promise<string[]> {
  const all = new TextEncoder().encode(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < all.byteLength; at += size) chunks.push(all.subarray(at, at + size));
  const out: string[] = [];
  for await (const data of readSse(bodyOf(chunks))) out.push(data);
  return out;
}

describe("readSse()", () => {
  const text =
    ": note\r\nevent: x\r\ndata: one 漢\r\n\r\ndata:two\ndata: lines\n\nid: 7\n\ndata: mac\r\rdata: cut";

  it.each([1, 2, 3, 5, 1000])("gives the same events in pieces of %i bytes", async (size) => {
    expect(await read(text, size)).toEqual(["one 漢", "two\nlines", "mac"]);
  });

  it.each([
    ['data: {"a":1}\n\ndata: {"b":2}', ['{"a":1}', '{"b":2}']],
    ['data: {"a":1}\n\ndata: {"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['data: {"a":\ndata: 1}', ['{"a":\n1}']],
    ["data: [DONE]", ["[DONE]"]],
    ['data: {"a":1}\n\ndata: {"b":2', ['{"a":1}']],
    ['data: {"a":1}\n\nevent: b', ['{"a":1}']],
    ["data: 12", []],
  ])("takes a last event without its line ends if it is whole: %j", async (events, found) => {
    for (const size of [1, 1000]) expect(await read(events, size)).toEqual(found);
  });

  it("refuses a line without end, without keeping it", async () => {
    const endless = bodyOf([
      new TextEncoder().encode("data: "),
      ...Array(20).fill(new Uint8Array(100_000).fill(97)),
    ]);
    await expect(readSse(endless).next()).rejects.toMatchObject({ kind: "stream_malformed" });
  });

  it("refuses an event of too many lines", async () => {
    const line = `data: ${"x".repeat(1000)}\n`;
    await expect(read(line.repeat(MAX_SSE_CHARS / 1000 + 1))).rejects.toMatchObject({
      kind: "stream_malformed",
    });
  });

  it("closes the body when its reader stops early", async () => {
    let closed = 0;
    const events = readSse(bodyOf(Array(9).fill(new TextEncoder().encode("data: a\n\n")), () => closed++));
    await events.next();
    await events.return(undefined);
    expect(closed).toBe(1);
  });
});

describe.each([
  { name: "readSse()", reader: readSse, before: "data: ", after: "\n\n" },
  { name: "readLines()", reader: readLines, before: "", after: "\n" },
])("$name", ({ reader, before, after }) => {
  it("joins each character of a line of 1 MB once, though every byte comes by itself", async () => {
    const text = "x".repeat(1_000_000);
    const bytes = new TextEncoder().encode(`${before}${text}${after}`);
    let at = 0;
    const next: Body["next"] = async () =>
      at === bytes.byteLength
        ? { done: true, value: undefined }
        : { done: false, value: bytes.subarray(at, ++at) };
    const join = vi.spyOn(Array.prototype, "join");
    try {
      const [line] = await Array.fromAsync(reader({ next, close: () => {} }));
      const joined = join.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
      expect([line === text, joined]).toEqual([true, before.length + text.length]);
    } finally {
      join.mockRestore();
    }
  });
});

describe("readRest()", () => {
  it("reads to the end of the body", async () => {
    const chunks = ["data: a\n\n", ": bye\n", "\n"].map((text) => new TextEncoder().encode(text));
    const body = bodyOf(chunks);
    const events = readSse(body);
    await events.next();
    await readRest(body);
    expect((await body.next()).done).toBe(true);
    await events.return(undefined);
  });

  it("does not wait for an end that does not come, nor for a connection that was cut", async () => {
    await readRest({ next: () => new Promise(() => {}), close: () => {} });
    await readRest({ next: () => Promise.reject(new Error("cut")), close: () => {} });
  });
});
