import { utimesSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { grep } from "./grep.ts";

function bench(files: Record<string, string> = {}): Bench {
  const made = new Bench([grep]);
  onTestFinished(() => made[Symbol.dispose]());
  for (const [path, content] of Object.entries(files)) made.put(path, content);
  return made;
}

test("grep prints hits and the lines around them, in path order", async () => {
  const made = bench({ "src/b.ts": "1\n2\nhit\n4\n5\n6\n7\nhit\n", "src/a.ts": "hit\nx\n" });
  const result = await made.call("grep", { pattern: "hit", path: "src", context: 1 });
  expect(textOf(result).split("\n")).toEqual([
    "src/a.ts:1:hit",
    "src/a.ts-2-x",
    "--",
    "src/b.ts-2-2",
    "src/b.ts:3:hit",
    "src/b.ts-4-4",
    "--",
    "src/b.ts-7-7",
    "src/b.ts:8:hit",
  ]);
  expect(result.meta).toEqual({
    matches: [
      { path: "src/a.ts", line: 1, text: "hit" },
      { path: "src/b.ts", line: 3, text: "hit" },
      { path: "src/b.ts", line: 8, text: "hit" },
    ],
    count: 3,
    pattern: "hit",
    truncated: false,
    partial: false,
  });
  expect(made.note).toEqual({ about: "hit", facts: { count: { n: 3, of: "match" } } });
});

test("grep keeps colons in file names apart from line numbers", async () => {
  const made = bench({ "a:1:b": "hit:2:x\n" });
  const result = await made.call("grep", { pattern: "hit", context: 0 });
  expect(textOf(result)).toBe("a:1:b:1:hit:2:x");
  expect(result.meta?.matches).toEqual([{ path: "a:1:b", line: 1, text: "hit:2:x" }]);
});

test("grep in one file names it as it was given", async () => {
  const made = bench({ "src/a.ts": "hit\r\n" });
  expect(await made.text("grep", { pattern: "hit", path: "./src/a.ts" })).toBe("./src/a.ts:1:hit");
});

test("grep takes a pattern that looks like an option as a pattern", async () => {
  const made = bench({ "a.txt": "--pre=x\n" });
  expect(await made.text("grep", { pattern: "--pre=x" })).toBe("a.txt:1:--pre=x");
});

test("grep counts, and lists files newest first", async () => {
  const made = bench({ "a.txt": "x\nx\n", "c.txt": "x\n" });
  utimesSync(made.put("b.txt", "x\n"), 9e9, 9e9);
  expect(await made.text("grep", { pattern: "x", mode: "count" })).toBe("a.txt:2\nb.txt:1\nc.txt:1");
  const files = await made.call("grep", { pattern: "x", mode: "files" });
  expect(textOf(files).split("\n")[0]).toBe("b.txt");
  expect(files.meta?.count).toBe(3);
});

test("grep pages by lines and names the next offset", async () => {
  const made = bench({ "a.txt": "hit\n".repeat(700) });
  const first = await made.call("grep", { pattern: "hit" });
  expect(textOf(first)).toMatch(/a.txt:250:hit\n\[lines 0-249 of 700; continue with offset=250\]$/);
  expect(first.meta).toMatchObject({ count: 700, truncated: true });
  expect(first.meta?.matches).toHaveLength(250);
  const last = await made.text("grep", { pattern: "hit", offset: 699 });
  expect(last).toBe("a.txt:700:hit\n[lines 699-699 of 700]");
  expect((await made.call("grep", { pattern: "hit", offset: 700 })).error?.message).toBe(
    "offset 700 is past the end: 700 lines",
  );
});

test("grep counts no separator as a line", async () => {
  const made = bench({ "a.txt": "hit\n\n\n\n".repeat(30) });
  const text = await made.text("grep", { pattern: "hit", context: 1, head_limit: 4, offset: 2 });
  expect(text).toBe(
    "a.txt-4-\na.txt:5:hit\na.txt-6-\n--\na.txt-8-\n[lines 2-5 of 89; continue with offset=6]",
  );
});

test("grep without hits is a success", async () => {
  const result = await bench({ "a.txt": "x" }).call("grep", { pattern: "y" });
  expect(result).toMatchObject({ ok: true, meta: { count: 0, matches: [] } });
  expect(textOf(result)).toBe("No matches found");
});

test("grep with a bad pattern is INVALID with ripgrep's words", async () => {
  const { error } = await bench({ "a.txt": "x(" }).call("grep", { pattern: "x(" });
  expect(error).toMatchObject({ code: "INVALID", message: expect.stringContaining("regex parse error") });
  expect(error?.hint).toContain("literal: true");
});

test("grep with literal, case and include", async () => {
  const made = bench({ "a.ts": "f(X\n", "b.md": "f(X\n" });
  expect(
    await made.text("grep", { pattern: "F(x", literal: true, case_insensitive: "true", include: "*.ts" }),
  ).toBe("a.ts:1:f(X");
});

test("grep of a missing path is NOT_FOUND", async () => {
  const made = bench();
  expect((await made.call("grep", { pattern: "x", path: "no" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "path not found: no",
  });
  await expect(made.prepare("grep", { pattern: "x", path: "no" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

test("grep searches Crux's own files", async () => {
  const made = bench();
  made.crux.set("/var/out/c_1", Buffer.from("a\nb\nHit (1)\nc\nd\ne\n"));
  const args = {
    path: "/var/out/c_1",
    pattern: "hit (1)",
    literal: true,
    case_insensitive: true,
    context: 1,
  };
  expect(await made.text("grep", args)).toBe("/var/out/c_1-2-b\n/var/out/c_1:3:Hit (1)\n/var/out/c_1-4-c");
  expect(await made.text("grep", { ...args, mode: "count" })).toBe("/var/out/c_1:1");
  expect(await made.text("grep", { ...args, pattern: "zz" })).toBe("No matches found");
  expect((await made.call("grep", { ...args, pattern: "(", literal: false })).error?.code).toBe("INVALID");
});

test("grep shows a long line of Crux's own files by its match", async () => {
  const made = bench();
  made.crux.set("/var/out/c_1", Buffer.from(`${"a".repeat(9_000)};hit;${"b".repeat(9_000)}\n`));
  const text = await made.text("grep", { path: "/var/out/c_1", pattern: "hit" });
  expect(text).toMatch(/^\/var\/out\/c_1:1:…a{199};hit;b+…$/);
});

test("grep ends a pattern that would search for ever", async () => {
  const made = bench();
  made.crux.set("/var/out/c_1", Buffer.from(`${"a".repeat(60)}b\n`));
  const { error } = await made.call("grep", { path: "/var/out/c_1", pattern: "(a+)+$" });
  expect(error?.code).toBe("TIMEOUT");
});
