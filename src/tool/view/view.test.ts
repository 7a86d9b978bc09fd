import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { view } from "./view.ts";

function bench(): Bench {
  const made = new Bench([view]);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join("");

test("view gives raw lines, and nothing more for a whole file", async () => {
  const made = bench();
  made.put("a.txt", "\tone\r\n two");
  const result = await made.call("view", { file_path: "a.txt" });
  expect(textOf(result)).toBe("\tone\r\n two");
  expect(result.meta).toEqual({
    file_path: "a.txt",
    content: "\tone\r\n two",
    total_lines: 2,
    offset: 0,
    lines: 2,
    type: "text",
  });
  expect(made.note.facts).toEqual({ count: { n: 2, of: "line" } });
});

test("view counts lines from 0 and names the next offset", async () => {
  const made = bench();
  made.put("a.txt", numbered(812));
  const text = await made.text("view", { file_path: "a.txt", offset: "100", limit: "50" });
  expect(text.split("\n")[0]).toBe("line 100");
  expect(text.split("\n").at(-2)).toBe("line 149");
  expect(text).toMatch(/\n\[lines 100-149 of 812; continue with offset=150\]$/);
  expect(await made.text("view", { file_path: "a.txt", offset: 811 })).toBe(
    "line 811\n[lines 811-811 of 812]",
  );
});

test("view pages of 5,000 lines join to the file", async () => {
  const made = bench();
  const content = numbered(5000).trimEnd();
  made.put("a.txt", content);
  const pages = [];
  for (const offset of [0, 2000, 4000]) pages.push(await made.call("view", { file_path: "a.txt", offset }));
  expect(pages.map((page) => page.meta?.content).join("")).toBe(content);
});

test("view lowers a limit over 2,000 and says so", async () => {
  const made = bench();
  made.put("a.txt", numbered(2500));
  const text = await made.text("view", { file_path: "a.txt", limit: 9000 });
  expect(text).toMatch(/\[limit lowered to 2000\]\n\[lines 0-1999 of 2500; continue with offset=2000\]$/);
});

test("view cuts a long line and goes on", async () => {
  const made = bench();
  made.put("a.txt", `${"x".repeat(1999)}😀${"y".repeat(98_000)}\nlast`);
  const text = await made.text("view", { file_path: "a.txt" });
  expect(text).toBe(`${"x".repeat(1999)}... [truncated]\nlast`);
});

test("view keeps a page within 100,000 characters", async () => {
  const made = bench();
  made.put("a.txt", `${"x".repeat(1500)}\n`.repeat(200));
  const text = await made.text("view", { file_path: "a.txt" });
  expect(text.length).toBeLessThanOrEqual(100_000);
  const next = Number(/continue with offset=(\d+)\]$/.exec(text)?.[1]);
  expect(await made.text("view", { file_path: "a.txt", offset: next, limit: 1 })).toContain("xxx");
});

test("view takes 5 MB and not one byte more", async () => {
  const made = bench();
  made.put("a.txt", "x\n".repeat(2.5 * 1024 * 1024));
  await made.text("view", { file_path: "a.txt", limit: 1 });
  made.put("b.txt", `${"x\n".repeat(2.5 * 1024 * 1024)}y`);
  expect(await made.call("view", { file_path: "b.txt" })).toMatchObject({
    error: { code: "INVALID", message: "file too large (max 5MB)" },
  });
});

test("view does not trust the size of a file that grows", async () => {
  const made = bench();
  made.put("a.txt", "x");
  made.before = (op) => {
    if (op === "read") made.put("a.txt", "x".repeat(5 * 1024 * 1024 + 1));
  };
  expect((await made.call("view", { file_path: "a.txt" })).error?.message).toBe("file too large (max 5MB)");
});

test("view tells an empty file and an offset past the end", async () => {
  const made = bench();
  made.put("empty", "");
  made.put("a.txt", numbered(812));
  expect(await made.text("view", { file_path: "empty", offset: 3 })).toBe("[file is empty]");
  expect((await made.call("view", { file_path: "a.txt", offset: 900 })).error).toEqual({
    code: "INVALID",
    message: "offset 900 is past the end: 812 lines",
  });
});

test.each([
  ["a.bin", Buffer.from([1, 0, 2])],
  ["a.so", "text"],
  ["a.dat", Buffer.from("\x7fELF")],
  ["picture", Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2])],
])("view refuses %s as binary", async (name, content) => {
  const made = bench();
  made.put(name, content);
  expect((await made.call("view", { file_path: name })).error).toMatchObject({
    code: "INVALID",
    message: `binary file: ${name}`,
  });
});

test("view reads UTF-16 with a byte-order mark, and leaves out the mark of UTF-8", async () => {
  const made = bench();
  made.put("le.txt", Buffer.from("\uFEFFhé\n", "utf16le"));
  made.put("be.txt", Buffer.from("\uFEFFhé\n", "utf16le").swap16());
  made.put("u8.txt", "\uFEFFhé\n");
  for (const name of ["le.txt", "be.txt", "u8.txt"])
    expect(await made.text("view", { file_path: name })).toBe("hé\n");
});

test("view says when bytes are not UTF-8", async () => {
  const made = bench();
  made.put("latin.txt", Buffer.from([0x68, 0xe9, 0x0a]));
  expect(await made.text("view", { file_path: "latin.txt" })).toBe(
    "h\u00e9\n[not UTF-8: read as Windows-1252 (Latin-1), which edit and write keep]",
  );
});

test("view refuses directories and devices without opening them", async () => {
  const made = bench();
  made.put("d/a.txt", "");
  expect((await made.call("view", { file_path: "d" })).error?.message).toBe("is a directory: d. Use ls");
  expect((await made.call("view", { file_path: "/dev/zero" })).error?.message).toBe(
    "not a regular file: /dev/zero (device)",
  );
  expect(made.asked.map((asked) => asked.op)).not.toContain("read");
});

test("view of a missing file names near ones, in its directory or below the working directory", async () => {
  const made = bench();
  made.put("src/a.ts", "");
  made.put("src/.a.js", "");
  expect((await made.call("view", { file_path: "src/a.js" })).error).toEqual({
    code: "NOT_FOUND",
    message: "file not found: src/a.js",
    hint: "Similar: src/a.ts",
  });
  expect((await made.call("view", { file_path: "/src/a.ts" })).error?.hint).toBe("Similar: src/a.ts");
  expect((await made.call("view", { file_path: "nodir/deeper/zz" })).error).not.toHaveProperty("hint");
});

test("view of a missing file fails in prepare, before anybody is asked", async () => {
  await expect(bench().prepare("view", { file_path: "missing" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

test("view twice is unchanged; a third time, another page, a touch or a change is content", async () => {
  const made = bench();
  const path = made.put("a.txt", "one\ntwo\n");
  const call = () => made.call("view", { file_path: "a.txt" });
  expect((await call()).meta?.type).toBe("text");
  const again = await call();
  expect(textOf(again)).toBe("[unchanged since it was last viewed: a.txt]");
  expect(again.meta).toMatchObject({ type: "unchanged", content: "" });
  expect((await call()).meta?.type).toBe("text");
  expect((await made.call("view", { file_path: "a.txt", offset: 1 })).meta?.type).toBe("text");
  await call();
  utimesSync(path, 1, 1);
  expect((await call()).meta?.type).toBe("text");
});

test("view reads Crux's own files at their own path", async () => {
  const made = bench();
  made.crux.set("/var/out/c_1", Buffer.from("kept\n"));
  expect(await made.text("view", { file_path: "/var/out/x/../c_1" })).toBe("kept\n");
  const plan = await made.plan("view", { file_path: "/proc/self/status" });
  expect(plan.effects).toEqual([{ kind: "state", path: "/proc/self/status" }]);
  await made.prepare("view", { file_path: "/proc/self/status" });
});

test("view declares the file, `..` resolved by its text, and tells a path outside the roots", async () => {
  const made = bench();
  const inside = await made.plan("view", { file_path: "src/../b.txt" });
  expect(inside.effects[0]).toEqual({ kind: "read", path: join(made.root, "b.txt") });
  expect(inside.view?.operation).toBe("read file: src/../b.txt");
  const outside = await made.plan("view", { file_path: `${made.root}2/a` });
  expect(outside.view?.operation).toBe(`read file outside working directory: ${made.root}2/a`);
});

test.each(["\\\\host\\share\\a", "a\0b"])("view refuses %j without touching anything", async (path) => {
  const made = bench();
  await expect(made.plan("view", { file_path: path })).rejects.toMatchObject({ code: "INVALID" });
  expect(made.asked).toEqual([]);
});
