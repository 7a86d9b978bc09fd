import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { english } from "../../abi/sentence.ts";
import { encodeText } from "../encoding.ts";
import { Bench, textOf } from "../testing/bench.ts";
import { view } from "../view/view.ts";
import { write } from "./write.ts";

function bench(): Bench {
  const made = new Bench([view, write]);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

test("write makes a file and its directories, content verbatim", async () => {
  const made = bench();
  const result = await made.call("write", { file_path: "d/e/a.txt", content: "a\nb\r\n" });
  expect(made.get("d/e/a.txt")).toBe("a\nb\r\n");
  expect(textOf(result)).toBe("Created d/e/a.txt: 2 lines");
  expect(result.meta).toMatchObject({
    type: "create",
    file_path: "d/e/a.txt",
    additions: 2,
    removals: 0,
    original_file: null,
  });
});

test("write replaces a viewed file, and one it made", async () => {
  const made = bench();
  made.put("a.txt", "one\ntwo\n");
  await made.text("view", { file_path: "a.txt" });
  const plan = await made.plan("write", { file_path: "a.txt", content: "x" });
  expect(plan.effects).toContainEqual({ kind: "write", path: join(made.root, "a.txt"), change: "modify" });
  expect(plan.view?.warnings?.map(english)).toEqual(["replaces the whole file"]);
  const result = await made.call("write", { file_path: "a.txt", content: "one\n2\n" });
  expect(result.meta).toMatchObject({
    type: "update",
    additions: 1,
    removals: 1,
    original_file: "one\ntwo\n",
  });
  expect(result.meta?.structured_patch).toHaveLength(1);
  await made.text("write", { file_path: "a.txt", content: "3" });
  expect(made.get("a.txt")).toBe("3");
});

test("write of equal content writes nothing", async () => {
  const made = bench();
  made.put("a.txt", "same");
  await made.text("view", { file_path: "a.txt" });
  made.asked = [];
  expect((await made.call("write", { file_path: "a.txt", content: "same" })).meta?.type).toBe("unchanged");
  expect(made.asked.map((asked) => asked.op)).toEqual(["stat", "read"]);
});

test("write refuses an existing file that was not viewed, has changed or appears meanwhile", async () => {
  const made = bench();
  made.put("a.txt", "theirs");
  const args = { file_path: "a.txt", content: "mine" };
  const unread = { code: "CONFLICT", message: "file has not been read: a.txt. View it first" };
  expect((await made.call("write", args)).error).toEqual(unread);
  await expect(made.prepare("write", args)).rejects.toMatchObject(unread);
  await made.text("view", { file_path: "a.txt" });
  made.put("a.txt", "changed");
  expect((await made.call("write", args)).error?.message).toBe(
    "file has changed since it was read: a.txt. View it again",
  );
  made.before = (op) => {
    if (op === "write") made.put("new.txt", "theirs");
  };
  expect((await made.call("write", { ...args, file_path: "new.txt" })).error?.message).toBe(
    "file has not been read: new.txt. View it first",
  );
  expect(made.get("new.txt")).toBe("theirs");
});

test("write refuses a directory and more than 5 MB", async () => {
  const made = bench();
  mkdirSync(join(made.root, "d"));
  expect((await made.call("write", { file_path: "d", content: "" })).error).toEqual({
    code: "INVALID",
    message: "is a directory: d",
  });
  const content = "é".repeat(2.8 * 1024 * 1024);
  expect((await made.call("write", { file_path: "a", content })).error?.message).toContain("too large");
});

test("write shows a new file by numbered lines, its beginning and its end, and a change as one", async () => {
  const made = bench();
  const shown = async (content: string) =>
    (await made.prepare("write", { file_path: "a.txt", content }))?.diff;
  expect(await shown("one\ntwo")).toBe("1 one\n2 two\n");
  expect(await shown("")).toBeUndefined();
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at + 1}\n`);
  const view = await made.prepare("write", { file_path: "a.txt", content: lines.join("") });
  const rows = view?.diff?.trimEnd().split("\n") ?? [];
  expect(view?.diff?.length).toBeLessThanOrEqual(4_000);
  expect([rows[0], rows.at(-1)]).toEqual(["  1 line 1", "500 line 500"]);
  const gap = rows.findIndex((row) => row.startsWith("…"));
  expect(rows[gap]).toBe(`… ${500 - (rows.length - 1)} lines more …`);
  expect(rows.every((row, at) => at === gap || /^ *(\d+) line \1$/.test(row))).toBe(true);
  expect(view?.warnings?.map(english)).toEqual(["diff is shown in part: 6392 characters"]);
  made.put("a.txt", "one\nzwei\n");
  await made.text("view", { file_path: "a.txt" });
  expect(await shown("one\ntwo\n")).toBe("--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n1  one\n2 -zwei\n2 +two\n");
});

test("write shows a long content by both ends, and says so", async () => {
  const plan = await bench().plan("write", { file_path: "a.txt", content: `first${"x".repeat(9000)}last` });
  const shown = plan.view?.params.content as string;
  expect(shown.length).toBeLessThanOrEqual(4000);
  expect(shown).toMatch(/^first.*last$/);
  expect(plan.view?.warnings?.map(english)).toEqual(["content is shown in part: 9009 characters"]);
});

test.each([
  ["UTF-8", "\ufeff"],
  ["UTF-16LE", "\ufeff"],
  ["UTF-16BE", "\ufeff"],
  ["Windows-1252", ""],
] as const)("write keeps the encoding and the mark of what it replaces: %s", async (encoding, mark) => {
  const made = bench();
  const encoded = (text: string) => encodeText(mark + text, encoding) as Buffer;
  const path = made.put("a.txt", encoded("caf\u00e9\n"));
  await made.text("view", { file_path: "a.txt" });
  const result = await made.call("write", { file_path: "a.txt", content: "\u00e9t\u00e9\n" });
  expect(result.meta).toMatchObject({ type: "update", original_file: "caf\u00e9\n" });
  expect(readFileSync(path)).toEqual(encoded("\u00e9t\u00e9\n"));
});
