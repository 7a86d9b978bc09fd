import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { findLibc } from "./libc.ts";

/** Below what the C library would map by itself, and give back by itself. */
const PIECE = 60_000;
const COUNT = 1_000;

test.skipIf(findLibc() === undefined)(
  "releaseFree() gives back what is free between pieces that stay",
  () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const pieces: (Uint8Array | undefined)[] = Array.from({ length: COUNT }, () =>
      new Uint8Array(PIECE).fill(1),
    );
    for (let at = 0; at < COUNT; at++) if (at % 10 !== 0) pieces[at] = undefined;
    collect();
    // the pieces are freed by a thread of V8, which the next collection waits for
    collect();
    const before = process.memoryUsage.rss();
    findLibc()?.releaseFree();
    expect(before - process.memoryUsage.rss()).toBeGreaterThan((PIECE * COUNT) / 2);
    expect(pieces.filter((piece) => piece?.every((byte) => byte === 1))).toHaveLength(COUNT / 10);
  },
);

/** Bytes of the program's file that are in memory. */
function mappedBytes(): number {
  const maps = readFileSync("/proc/self/smaps", "utf8").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const own = maps.filter((entry) => entry.split("\n")[0]?.endsWith(process.execPath));
  return own.reduce((sum, entry) => sum + Number(/^Rss: +(\d+)/m.exec(entry)?.[1]) * 1024, 0);
}

test.skipIf(findLibc() === undefined)("releaseProgram() keeps of the program what is used again", () => {
  const before = mappedBytes();
  findLibc()?.releaseProgram();
  const after = mappedBytes();
  expect(before).toBeGreaterThan(20 * 2 ** 20);
  expect(after).toBeLessThan(before / 2);
  expect(JSON.stringify(process.versions)).toContain(process.versions.v8);
});
