import { closeSync, existsSync, fstatSync, readdirSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder, until } from "../testing.ts";
import { type PipeEnds, Pipes } from "./pipes.ts";

function close({ reader, writer }: PipeEnds): void {
  closeSync(reader);
  closeSync(writer);
}

describe("Pipes", () => {
  it("open() gives both ends of a pipe that has no name any more", async () => {
    const dir = join(tempFolder(), "pipes");
    const pipes = new Pipes(dir);
    const [a, b] = [pipes.open(), pipes.open()];
    if (a === undefined || b === undefined) throw new Error("no pipes");
    expect([fstatSync(a.reader).isFIFO(), statSync(dir).mode & 0o777]).toEqual([true, 0o700]);
    writeSync(a.writer, "to a");
    writeSync(b.writer, "to b");
    const buffer = Buffer.alloc(10);
    expect(buffer.toString("utf8", 0, readSync(b.reader, buffer))).toBe("to b");
    closeSync(a.writer);
    expect(buffer.toString("utf8", 0, readSync(a.reader, buffer))).toBe("to a");
    expect(readSync(a.reader, buffer)).toBe(0);
    closeSync(a.reader);
    close(b);
    await pipes.close();
    expect(existsSync(dir)).toBe(false);
    expect(pipes.open()).toBeUndefined();
  });

  it("makes more before the last is used, and never runs dry", async () => {
    const dir = join(tempFolder(), "pipes");
    const pipes = new Pipes(dir);
    for (let n = 0; n < 200; n++) {
      const ends = pipes.open();
      expect(ends).toBeDefined();
      if (ends !== undefined) close(ends);
    }
    await until(() => readdirSync(dir).length >= 64, "more are made meanwhile");
    void pipes.makeMore();
    await pipes.close();
    expect(existsSync(dir)).toBe(false);
  });

  it("gives none where the host makes none, and asks once", async () => {
    const pipes = new Pipes(join(tempFolder(), "pipes"), "no-such-mkfifo");
    expect([pipes.open(), pipes.open()]).toEqual([undefined, undefined]);
    await pipes.close();
  });
});
