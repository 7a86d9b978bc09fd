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
