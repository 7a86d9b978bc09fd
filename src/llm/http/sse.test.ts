import { describe, expect, it } from "vitest";
import { MAX_SSE_CHARS, readRest, readSse } from "./sse.ts";

function bodyOf(chunks: readonly Uint8Array[], onCancel = (): void => {}): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull: (controller) => {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: onCancel,
  });
}

async function read(text: string, size = text.length): Promise<string[]> {
  const all = new TextEncoder().encode(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < all.byteLength; at += size) chunks.push(all.subarray(at, at + size));
  const out: string[] = [];
  for await (const data of readSse(bodyOf(chunks).getReader())) out.push(data);
  return out;
}

describe("readSse()", () => {
  const text =
    ": note\r\nevent: x\r\ndata: one 漢\r\n\r\ndata:two\ndata: lines\n\nid: 7\n\ndata: mac\r\rdata: cut";

  it.each([1, 2, 3, 5, 1000])("gives the same events in pieces of %i bytes", async (size) => {
    expect(await read(text, size)).toEqual(["one 漢", "two\nlines", "mac"]);
  });

  it("refuses a line without end, without keeping it", async () => {
    const endless = bodyOf([
      new TextEncoder().encode("data: "),
      ...Array(20).fill(new Uint8Array(100_000).fill(97)),
    ]);
    await expect(readSse(endless.getReader()).next()).rejects.toMatchObject({ kind: "stream_malformed" });
  });

  it("refuses an event of too many lines", async () => {
    const line = `data: ${"x".repeat(1000)}\n`;
    await expect(read(line.repeat(MAX_SSE_CHARS / 1000 + 1))).rejects.toMatchObject({
      kind: "stream_malformed",
    });
  });

  it("cancels the body when the reader stops early", async () => {
    let cancelled = 0;
    const events = readSse(
      bodyOf(Array(9).fill(new TextEncoder().encode("data: a\n\n")), () => cancelled++).getReader(),
    );
    await events.next();
    await events.return(undefined);
    expect(cancelled).toBe(1);
  });
});

describe("readRest()", () => {
  it("reads to the end of the body", async () => {
    let cancelled = 0;
    const chunks = ["data: a\n\n", ": bye\n", "\n"].map((text) => new TextEncoder().encode(text));
    const reader = bodyOf(chunks, () => cancelled++).getReader();
    const events = readSse(reader);
    await events.next();
    await readRest(reader);
    await events.return(undefined);
    expect(cancelled).toBe(0);
  });

  it("does not wait for an end that does not come, nor for a connection that was cut", async () => {
    let cancelled = 0;
    const open = new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ }).getReader();
    await readRest(open);
    await readSse(open).return(undefined);
    const cut = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("cut")) });
    await readRest(cut.getReader());
  });
});
