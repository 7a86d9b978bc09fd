/** The `part` of a write: bytes at a place are replaced, all others stay. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { FsWritten } from "../../abi/ops/fs.ts";
import { askJson, callerIn, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();
const shaOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function put(root: string, fields: object): Promise<Buffer> {
  await askJson<FsWritten>(device, "/./a", { op: "write", ...fields }, callerIn(root));
  return readFileSync(join(root, "a"));
}

test("a part of a write takes the place of its bytes, wherever they are", async () => {
  const root = tempFolder();
  const bytes = fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some.map((byte) => byte & 0x7f)));
  await fc.assert(
    fc.asyncProperty(
      bytes,
      fc.nat(40),
      fc.nat(40),
      fc.string({ maxLength: 10 }),
      async (old, at, length, content) => {
        writeFileSync(join(root, "a"), old);
        const [from, to] = [Math.min(at, old.length), Math.min(at + length, old.length)];
        const now = await put(root, { content, expect: shaOf(old), part: { at: from, length: to - from } });
        expect(now).toEqual(Buffer.concat([old.subarray(0, from), Buffer.from(content), old.subarray(to)]));
      },
    ),
    { numRuns: 60 },
  );
});

test("a part across the chunks that a file is copied in", async () => {
  const root = tempFolder();
  const old = Buffer.alloc(3 * 1024 * 1024 + 17, "0123456789");
  for (const [at, length] of [
    [1024 * 1024, 0],
    [1024 * 1024 - 1, 1024 * 1024 + 2],
    [0, old.length],
    [old.length, 0],
  ] as const) {
    writeFileSync(join(root, "a"), old);
    const now = await put(root, { content: "<>", expect: shaOf(old), part: { at, length } });
    expect(
      now.equals(Buffer.concat([old.subarray(0, at), Buffer.from("<>"), old.subarray(at + length)])),
    ).toBe(true);
  }
});

test("a part of a file that is not as expected, or has no such bytes, changes nothing", async () => {
  const root = tempFolder();
  writeFileSync(join(root, "a"), "abc");
  const part = { at: 1, length: 1 };
  const fails = (fields: object, code: string) =>
    expect(put(root, { content: "x", ...fields })).rejects.toMatchObject({ code });
  await fails({ expect: shaOf(Buffer.from("abd")), part }, "CONFLICT");
  await fails({ expect: shaOf(Buffer.from("abc")), part: { at: 2, length: 2 } }, "INVALID");
  await fails({ expect: shaOf(Buffer.from("abc")), part: { at: 4, length: 0 } }, "INVALID");
  await fails({ part }, "INVALID");
  await fails({ expect: null, part }, "INVALID");
  expect(readFileSync(join(root, "a"), "utf8")).toBe("abc");
});

test("twenty writers of one file by what they read: each that is acknowledged is there, no other", async () => {
  const root = tempFolder();
  writeFileSync(join(root, "a"), "");
  const acknowledged: number[] = [];
  const one = async (n: number): Promise<void> => {
    for (;;) {
      const old = readFileSync(join(root, "a"));
      try {
        await put(root, { content: `${n},`, expect: shaOf(old), part: { at: old.length, length: 0 } });
        acknowledged.push(n);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== "CONFLICT") throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)));
  const there = readFileSync(join(root, "a"), "utf8").split(",").filter(Boolean).map(Number);
  expect(there.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(acknowledged).toHaveLength(20);
});
