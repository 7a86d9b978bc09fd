import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { LineWriter } from "./line-writer.ts";

/** A client that takes what it gets when it is told to. */
class Reader extends Writable {
  readonly taken: string[] = [];
  #take: (() => void) | undefined;

  take(): void {
    const take = this.#take;
    this.#take = undefined;
    take?.();
  }

  override _write(chunk: Buffer, _: unknown, done: () => void): void {
    this.#take = () => {
      this.taken.push(chunk.toString());
      done();
    };
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), undefined, done);
  }
}

function written() {
  const [reader, clock] = [new Reader(), new VirtualClock()];
  return { reader, clock, writer: new LineWriter(reader as unknown as Socket, clock) };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("LineWriter", () => {
  it("sends a line at once, and the short lines that follow in its tick in one write", async () => {
    const { reader, writer } = written();
    for (const line of ["a\n", "b\n", "c\n"]) expect(await writer.write(line)).toBe(true);
    reader.take();
    expect(reader.taken).toEqual(["a\n"]);
    await tick();
    reader.take();
    await writer.write("d\n");
    reader.take();
    expect(reader.taken).toEqual(["a\n", "b\nc\n", "d\n"]);
  });

  it("holds its caller when more waits than a piece", async () => {
    const { reader, writer } = written();
    await writer.write("a".repeat(60 * 1024));
    let isTaken = false;
    const more = writer.write("b".repeat(10 * 1024)).then((isThere) => {
      isTaken = true;
      return isThere;
    });
    await tick();
    expect(isTaken).toBe(false);
    reader.take();
    await tick();
    reader.take();
    expect(await more).toBe(true);
  });

  it("stalledMs() counts from when the reader last took something", async () => {
    const { reader, clock, writer } = written();
    expect(writer.stalledMs(clock.mono())).toBe(0);
    await writer.write("a\n");
    await tick();
    await writer.write("b\n");
    await clock.advance(5_000);
    expect(writer.stalledMs(clock.mono())).toBe(5_000);
    reader.take();
    await tick();
    expect(writer.stalledMs(clock.mono())).toBe(0);
    await clock.advance(1_000);
    expect(writer.stalledMs(clock.mono())).toBe(1_000);
    reader.take();
    await tick();
    expect(writer.stalledMs(clock.mono())).toBe(0);
  });

  it("write() is false once the client is gone", async () => {
    const { reader, writer } = written();
    reader.destroy();
    expect(await writer.write("a\n")).toBe(false);
    expect(await writer.write("b".repeat(100_000))).toBe(false);
  });
});
