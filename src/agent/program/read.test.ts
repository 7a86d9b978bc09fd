import { expect, test } from "vitest";
import { asFd } from "../../abi/ids.ts";
import type { Sys } from "../../abi/sys.ts";
import { readLines } from "./read.ts";

function reader(chunks: readonly string[]) {
  const queue = chunks.map((chunk) => Buffer.from(chunk, "latin1"));
  let reads = 0;
  const sys = {
    read: async () => {
      reads++;
      return new Uint8Array(queue.shift() ?? []);
    },
  } as unknown as Sys;
  const { signal } = new AbortController();
  const run = (length: number) => readLines(sys, asFd(3), length, (line) => line === "end", signal);
  return { run, reads: () => reads };
}

test("readLines() reads a short reply once", async () => {
  const { run, reads } = reader(["a\nend\n"]);
  expect(await run(100)).toEqual(["a", "end"]);
  expect(reads()).toBe(1);
});

test("readLines() reads again after a full read, and until empty", async () => {
  const { run, reads } = reader(["aaaa", "\nen", "d\n"]);
  expect(await run(4)).toEqual(["aaaa", "end"]);
  expect(reads()).toBe(3);
  const full = reader(["end\n"]);
  expect(await full.run(4)).toEqual(["end"]);
  expect(full.reads()).toBe(2);
});

test("readLines() goes on after a short read that is not the end", async () => {
  const { run, reads } = reader(["progress\n", "end\n"]);
  expect(await run(100)).toEqual(["progress", "end"]);
  expect(reads()).toBe(2);
});

test("readLines() joins a character that was cut between reads", async () => {
  const bytes = Buffer.from("é\nend\n").toString("latin1");
  const { run } = reader([bytes.slice(0, 1), bytes.slice(1)]);
  expect(await run(1)).toEqual(["é", "end"]);
});
