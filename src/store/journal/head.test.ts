import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HeadFile, headOf } from "./head.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-head-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const hash = (n: number) => new Uint8Array(32).fill(n);

function write(...lsns: number[]): void {
  const head = new HeadFile(dir);
  for (const lsn of lsns) head.write(lsn, hash(lsn));
  head.close();
}

describe("headOf()", () => {
  test("is null without a file, and for one that says nothing yet", () => {
    expect(headOf(dir)).toBeNull();
    write();
    expect(headOf(dir)).toBeNull();
  });

  test("is the last that was written, also after it was opened again", () => {
    write(1, 2, 3);
    expect(headOf(dir)).toEqual({ lsn: 3, hash: hash(3) });
    write(4);
    expect(headOf(dir)?.lsn).toBe(4);
    write(5, 6);
    expect(headOf(dir)?.lsn).toBe(6);
    const { size, mode } = statSync(join(dir, "head"));
    expect([size, mode & 0o777]).toEqual([128, 0o600]);
  });

  test("with one damaged byte is the last or the one before, never anything else", () => {
    write(7, 8, 9);
    const whole = readFileSync(join(dir, "head"));
    fc.assert(
      fc.property(fc.nat(127), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Buffer.from(whole);
        bytes[at] = bytes[at]! ^ flip;
        writeFileSync(join(dir, "head"), bytes);
        const head = headOf(dir);
        expect([8, 9]).toContain(head?.lsn);
        expect(head?.hash).toEqual(hash(head?.lsn ?? 0));
      }),
    );
  });

  test("a torn file leaves the slot that is whole", () => {
    write(7, 8);
    writeFileSync(join(dir, "head"), readFileSync(join(dir, "head")).subarray(0, 100));
    expect(headOf(dir)?.lsn).toBe(7);
    write(9);
    expect(headOf(dir)?.lsn).toBe(9);
  });
});
