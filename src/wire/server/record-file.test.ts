import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anyChar } from "../../lib/testing/any-char.ts";
import { recordsIn } from "./record-file.ts";

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-records-"));
  path = join(dir, "records");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const record = (seq: number, words = "") => ({
  proc: "p",
  pid: 1,
  seq,
  kind: "ctx.record",
  v: 1,
  body: { words },
});

async function read(maxLineBytes?: number, signal = new AbortController().signal): Promise<unknown[]> {
  return Array.fromAsync(recordsIn(path, signal, maxLineBytes));
}

describe("recordsIn()", () => {
  it("gives each line as it was written, wherever the chunks of the file end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: anyChar }), fc.constant("x".repeat(70_000)))),
        async (words) => {
          const records = words.map((each, n) => record(n + 1, each.toWellFormed()));
          writeFileSync(path, records.map((each) => `${JSON.stringify(each)}\n`).join("\n"));
          expect(await read()).toEqual(records);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("refuses a line that is too long without holding it, and one that is no record, by number", async () => {
    writeFileSync(path, `${JSON.stringify(record(1))}\n${"[".repeat(200_000)}`);
    await expect(read(100_000)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/^line 2 is not a record: .*100000 bytes$/),
    });
    await expect(read()).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/^line 2 is not a record: /),
    });
    writeFileSync(path, `${"x".repeat(60_000)}${"y".repeat(60_000)}\n`);
    await expect(read(100_000)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("100000"),
    });
  });

  it("opens regular files only: a FIFO would block, and a device never end", async () => {
    execFileSync("mkfifo", [path]);
    await expect(read()).rejects.toMatchObject({ code: "INVALID", message: `not a regular file: ${path}` });
    path = "/dev/zero";
    await expect(read()).rejects.toMatchObject({ code: "INVALID" });
    path = dir;
    await expect(read()).rejects.toMatchObject({ code: "INVALID" });
    path = join(dir, "absent");
    await expect(read()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("ends with who asked", async () => {
    writeFileSync(path, `${JSON.stringify(record(1))}\n`.repeat(10_000));
    const gone = new AbortController();
    const reading = recordsIn(path, gone.signal);
    await reading.next();
    gone.abort();
    await expect(Array.fromAsync(reading)).rejects.toThrow();
  });
});
