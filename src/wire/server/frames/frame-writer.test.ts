import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { settle } from "../../../kernel/testing/virtual-clock.ts";
import { FrameWriter } from "./frame-writer.ts";

/** A socket that notes each of its writes. */
function bench() {
  const writes: number[][] = [];
  const socket = new Duplex({
    read() {},
    write(piece: Buffer, _encoding, done) {
      writes.push([piece.length]);
      done();
    },
    writev(pieces, done) {
      writes.push(pieces.map(({ chunk }) => (chunk as Buffer).length));
      done();
    },
  });
  const writer = new FrameWriter(socket as ConstructorParameters<typeof FrameWriter>[0], { mono: () => 0 });
  return { writer, socket, writes };
}

describe("FrameWriter", () => {
  it("together() writes what was sent meanwhile once, before it returns", () => {
    const { writer, writes } = bench();
    writer.together(() => {
      for (const length of [3, 4, 5]) writer.send(Buffer.alloc(length));
    });
    expect(writes).toEqual([[12]]);
  });

  it("send() outside of it waits for the end of the tick, and a large frame is not copied", async () => {
    const { writer, writes } = bench();
    writer.send(Buffer.alloc(10));
    writer.send(Buffer.alloc(50_000));
    writer.send(Buffer.alloc(30));
    expect(writes).toEqual([]);
    await settle();
    expect(writes).toEqual([[10, 50_000, 30]]);
  });

  it("send() tells when frames may change: once they are written or copied, or never will be", async () => {
    const { writer, socket, writes } = bench();
    const told: string[] = [];
    const small = Buffer.from("small");
    writer.send(Buffer.alloc(1_500_000), () => told.push(`after ${writes.length}`));
    writer.send(small, () => told.push("copied"));
    small.fill(0);
    expect(told).toEqual(["copied"]);
    await settle();
    socket.destroy();
    writer.send(Buffer.alloc(10), () => told.push("destroyed"));
    expect(told).toEqual(["copied", "after 1", "destroyed"]);
  });

  it("room() passes a turn on when who had it sends nothing", async () => {
    const { writer } = bench();
    writer.send(Buffer.alloc(300_000));
    const had: number[] = [];
    const waiting = Array.from({ length: 40 }, (_, n) => writer.room().then(() => had.push(n)));
    expect(had).toEqual([]);
    await Promise.all(waiting);
    expect(had).toEqual(waiting.map((_, n) => n));
  });

  it("together() sends what was sent before an error", () => {
    const { writer, writes } = bench();
    const act = (): void => {
      writer.send(Buffer.alloc(7));
      throw new Error("a fault");
    };
    expect(() => writer.together(act)).toThrow("a fault");
    expect(writes).toEqual([[7]]);
  });
});
