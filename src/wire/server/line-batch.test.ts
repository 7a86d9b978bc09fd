import { describe, expect, test } from "vitest";
import { LineBatch } from "./line-batch.ts";

function bench() {
  const sent: string[] = [];
  const sleeps: { resolve(): void; signal: AbortSignal | undefined }[] = [];
  const reader = { isThere: true };
  const batch = new LineBatch(
    async (text) => {
      sent.push(text);
      return reader.isThere;
    },
    {
      sleep: (_ms, signal) =>
        new Promise<void>((resolve, reject) => {
          sleeps.push({ resolve, signal });
          signal?.addEventListener("abort", () => reject(new Error("over")));
        }),
    },
  );
  return { batch, sent, sleeps, reader };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("LineBatch", () => {
  test("lines of one while go out together, in order, with one timer", async () => {
    const { batch, sent, sleeps } = bench();
    for (const line of ["a\n", "b\n", "c\n"]) expect(await batch.add(line)).toBe(true);
    expect(sent).toEqual([]);
    expect(sleeps).toHaveLength(1);
    sleeps[0]?.resolve();
    await turn();
    expect(sent).toEqual(["a\nb\nc\n"]);
  });

  test("a line after a batch has a timer of its own", async () => {
    const { batch, sent, sleeps } = bench();
    await batch.add("a\n");
    sleeps[0]?.resolve();
    await turn();
    await batch.add("b\n");
    sleeps[1]?.resolve();
    await turn();
    expect(sent).toEqual(["a\n", "b\n"]);
  });

  test("128 lines are not kept back, and end the timer", async () => {
    const { batch, sent, sleeps } = bench();
    for (let n = 0; n < 128; n++) await batch.add("x\n");
    expect(sent).toEqual(["x\n".repeat(128)]);
    expect(sleeps[0]?.signal?.aborted).toBe(true);
  });

  test("flush() sends what waits; with nothing, nothing", async () => {
    const { batch, sent } = bench();
    expect(await batch.flush()).toBe(true);
    await batch.add("a\n");
    expect(await batch.flush()).toBe(true);
    expect(sent).toEqual(["a\n"]);
  });

  test("a client that is gone is told to whoever adds or flushes", async () => {
    const { batch, reader, sent } = bench();
    reader.isThere = false;
    await batch.add("a\n");
    expect(await batch.flush()).toBe(false);
    await batch.add("b\n");
    expect(await batch.flush()).toBe(false);
    expect(sent).toEqual(["a\n"]);
  });
});
