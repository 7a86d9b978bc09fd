import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fstatSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder, until } from "../testing.ts";
import { findLibc } from "./libc.ts";
import { type PipeEnds, Pipes } from "./pipes.ts";

function close({ reader, writer }: PipeEnds): void {
  closeSync(reader);
  closeSync(writer);
}

const named = { findLibc: () => undefined };
const ways: [string, Partial<ConstructorParameters<typeof Pipes>[1]>][] = [["named", named]];
if (findLibc() !== undefined) ways.push(["of the C library", {}]);

describe("Pipes", () => {
  it.each(ways)("%s: open() gives both ends of a pipe without a name", async (_, options) => {
    const dir = join(tempFolder(), "pipes");
    const pipes = new Pipes(dir, options);
    const [a, b] = [pipes.open(), pipes.open()];
    if (a === undefined || b === undefined) throw new Error("no pipes");
    expect(fstatSync(a.reader).isFIFO()).toBe(true);
    expect(existsSync(dir)).toBe(options === named);
    if (options === named) expect(statSync(dir).mode & 0o777).toBe(0o700);
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

  it.runIf(ways.length > 1)("of the C library are closed in a program that is started", () => {
    const ends = new Pipes(tempFolder()).open();
    if (ends === undefined) throw new Error("no pipe");
    const { stdout } = spawnSync("ls", ["-l", "/proc/self/fd"], { encoding: "utf8" });
    const names = [ends.reader, ends.writer].map((fd) => readlinkSync(`/proc/self/fd/${fd}`));
    close(ends);
    expect(names.filter((name) => stdout.includes(name))).toEqual([]);
  });

  it("makes more before the last is used, and never runs dry", async () => {
    const dir = join(tempFolder(), "pipes");
    const pipes = new Pipes(dir, named);
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
    const pipes = new Pipes(join(tempFolder(), "pipes"), { ...named, mkfifo: "no-such-mkfifo" });
    expect([pipes.open(), pipes.open()]).toEqual([undefined, undefined]);
    await pipes.close();
  });
});
