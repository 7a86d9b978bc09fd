import { readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { english } from "../../abi/sentence.ts";
import { decodeText, encodeText } from "../encoding.ts";
import { multiEdit } from "../multi_edit/multi_edit.ts";
import { Bench, textOf } from "../testing/bench.ts";
import { BenchSys } from "../testing/bench-sys.ts";
import { view } from "../view/view.ts";
import { edit } from "./edit.ts";

async function bench(content: string | Uint8Array = "one\ntwo\n", viewed = true): Promise<Bench> {
  const made = new Bench([view, edit, multiEdit]);
  onTestFinished(() => made[Symbol.dispose]());
  made.put("a.txt", content);
  if (viewed) await made.text("view", { file_path: "a.txt" });
  return made;
}

const args = { file_path: "a.txt", old_string: "two", new_string: "2" };

test("edit replaces one occurrence and tells what it did", async () => {
  const made = await bench();
  const result = await made.call("edit", args);
  expect(made.get("a.txt")).toBe("one\n2\n");
  expect(textOf(result)).toBe("Edited a.txt: 1 replacement, +1 -1 lines");
  expect(result.meta).toMatchObject({
    additions: 1,
    removals: 1,
    old_content: "one\ntwo\n",
    new_content: "one\n2\n",
  });
  expect(result.meta?.patch).toContain("-two\n+2\n");
  expect(made.note).toEqual({ about: "a.txt", facts: { added: 1, removed: 1 } });
});

test("edit again needs no new view, and view then gives content", async () => {
  const made = await bench();
  await made.text("edit", args);
  await made.text("edit", { ...args, old_string: "2", new_string: "two" });
  expect((await made.call("view", { file_path: "a.txt" })).meta?.type).toBe("text");
});

test("edit refuses what does not occur or occurs twice, and writes nothing", async () => {
  const made = await bench("two two\ntwo\n");
  expect((await made.call("edit", { ...args, old_string: "x" })).error).toEqual({
    code: "INVALID",
    message:
      "old_string not found in file. Make sure it matches exactly, including whitespace and line breaks.",
  });
  expect((await made.call("edit", args)).error).toEqual({
    code: "INVALID",
    message:
      "old_string appears multiple times. Provide more context for unique match, or set replace_all to true",
    hint: "It begins on lines 1, 1, 2, counted from 1",
  });
  expect(made.get("a.txt")).toBe("two two\ntwo\n");
  await made.text("edit", { ...args, replace_all: "true" });
  expect(made.get("a.txt")).toBe("2 2\n2\n");
});

test("edit refuses an empty and an equal string", async () => {
  const made = await bench();
  expect((await made.call("edit", { ...args, old_string: "" })).error).toMatchObject({
    code: "INVALID",
    hint: expect.stringContaining("write"),
  });
  expect((await made.call("edit", { ...args, new_string: "two" })).error?.code).toBe("INVALID");
});

test("edit refuses a file that was not viewed or has changed", async () => {
  const unread = await bench("two", false);
  expect((await unread.call("edit", args)).error).toEqual({
    code: "CONFLICT",
    message: "file has not been read: a.txt. View it first",
  });
  const changed = await bench();
  changed.put("a.txt", "one\ntwo!\n");
  expect((await changed.call("edit", args)).error).toEqual({
    code: "CONFLICT",
    message: "file has changed since it was read: a.txt. View it again",
  });
});

test("edit goes by content: touched and restored files pass, equal times with other content do not", async () => {
  const made = await bench();
  const path = made.put("a.txt", "other");
  made.put("a.txt", "one\ntwo\n");
  utimesSync(path, 1, 1);
  await made.text("edit", args);
  await made.text("view", { file_path: "a.txt" });
  made.put("a.txt", "one\n3\n");
  utimesSync(path, 1, 1);
  expect((await made.call("edit", { ...args, old_string: "3" })).error?.code).toBe("CONFLICT");
});

test("edit of a file that changes between look and write is CONFLICT", async () => {
  const made = await bench();
  made.before = (op) => {
    if (op === "write") made.put("a.txt", "theirs");
  };
  expect((await made.call("edit", args)).error?.message).toBe(
    "file has changed since it was read: a.txt. View it again",
  );
  expect(made.get("a.txt")).toBe("theirs");
});

test("edit finds in prepare what must fail", async () => {
  const made = await bench();
  await made.prepare("edit", args);
  await expect(made.prepare("edit", { ...args, old_string: "x" })).rejects.toMatchObject({ code: "INVALID" });
  await expect(made.prepare("edit", { ...args, file_path: "no" })).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: "file not found: no",
  });
  expect(made.get("a.txt")).toBe("one\ntwo\n");
});

test("edit keeps a byte-order mark and CRLF", async () => {
  const made = await bench("\uFEFFone\r\ntwo\r\n");
  await made.text("edit", { ...args, old_string: "one\ntwo", new_string: "1\n2" });
  expect(made.get("a.txt")).toBe("\uFEFF1\r\n2\r\n");
});

const LATIN = { ...args, old_string: "\u00fcber", new_string: "\u00fcber \u20ac" };

test.each([
  ["UTF-16LE", Buffer.from("\ufeffcaf\u00e9\r\n\u00fcber\r\n", "utf16le")],
  ["UTF-16BE", Buffer.from("\ufeffcaf\u00e9\r\n\u00fcber\r\n", "utf16le").swap16()],
  ["Windows-1252", Buffer.from("caf\u00e9\r\n\u00fcber\r\n", "latin1")],
  ["damaged UTF-8", Buffer.concat([Buffer.from("caf\u00e9 \u00fcber "), Buffer.of(0xe9, 0x0a)])],
] as const)("edit keeps the encoding of a file: %s", async (encoding, bytes) => {
  const made = await bench(bytes);
  const { text } = decodeText(bytes);
  for (const tool of ["edit", "multi_edit"]) {
    made.put("a.txt", bytes);
    await made.call("view", { file_path: "a.txt" });
    const { file_path, ...edit } = LATIN;
    const result = await made.call(tool, tool === "edit" ? LATIN : { file_path, edits: [edit] });
    expect(result).toMatchObject({ ok: true, meta: { additions: 1, removals: 1 } });
    const after = encodeText(text.replace("\u00fcber", "\u00fcber \u20ac"), encoding);
    expect(readFileSync(join(made.root, "a.txt"))).toEqual(after);
  }
});

test("edit refuses what the encoding of the file has not, before it asks, and says how to go on", async () => {
  const made = await bench(Buffer.from("two caf\u00e9", "latin1"));
  const change = { ...args, new_string: "\u2192" };
  await expect(made.prepare("edit", change)).rejects.toMatchObject({ code: "INVALID" });
  const { error } = await made.call("edit", change);
  expect(error?.message).toBe(
    'a.txt is Windows-1252 (Latin-1), which has no "\u2192" (U+2192); nothing was written',
  );
  expect(error?.hint).toContain("iconv -f WINDOWS-1252 -t UTF-8 a.txt > a.txt.utf8 && mv a.txt.utf8 a.txt");
});

test("edit refuses Crux's own files and directories", async () => {
  const made = await bench();
  await expect(made.plan("edit", { ...args, file_path: "/proc/self/intent" })).rejects.toMatchObject({
    code: "PERMISSION",
  });
  expect((await made.call("edit", { ...args, file_path: "." })).error?.message).toBe("is a directory: .");
});

test("edit shows its change in the dialog, hidden characters included", async () => {
  const made = await bench();
  const plan = await made.plan("edit", { ...args, new_string: "\u202Eevil" });
  expect(plan.view).toMatchObject({ tool: "edit", operation: "edit file: a.txt" });
  expect(plan.view?.diff).toContain("-two");
  expect(plan.view?.diff).not.toContain("No newline");
  // the file has not been looked at
  expect(plan.view?.diff).toContain("\n@@\n");
  expect(plan.view?.diff).toContain("+\\u{202e}evil");
});

test("edit shows the lines with their numbers and three around them, once it has looked at the file", async () => {
  const lines = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
  const made = await bench(`${lines.join("\n")}\n`);
  const change = { file_path: "a.txt", old_string: "line 9\n", new_string: "nine\nand \u202ehalf\n" };
  const view = await made.prepare("edit", change);
  expect(view).toMatchObject({ tool: "edit", operation: "edit file: a.txt" });
  expect(view?.diff).toBe(`--- a.txt
+++ a.txt
@@ -6,7 +6,8 @@
 6  line 6
 7  line 7
 8  line 8
 9 -line 9
 9 +nine
10 +and \\u{202e}half
11  line 10
12  line 11
13  line 12
`);
});

test("edit is not stopped half way by an interrupt, only by the end of its process", async () => {
  const made = await bench();
  expect((await made.call("edit", args, AbortSignal.abort())).ok).toBe(true);
  made.ended.abort();
  expect((await made.call("edit", { ...args, old_string: "one" })).error?.code).toBe("CANCELLED");
});

test("edit forgets what a process saw when that ends", async () => {
  const made = await bench();
  made.ended.abort();
  const other = { ...made.caller, signal: new AbortController().signal };
  const file = await made.device.open("/edit", 2, other);
  const plan = await file.plan?.(Buffer.from(JSON.stringify(args)));
  await expect(plan?.prepare?.(new BenchSys(made, plan.effects))).rejects.toMatchObject({
    message: "file has not been read: a.txt. View it first",
  });
});

test("edit refuses half of a character, which would match within a whole one", async () => {
  const made = await bench("😀\n");
  await expect(made.plan("edit", { ...args, old_string: "\ud83d", new_string: "x" })).rejects.toMatchObject({
    code: "INVALID",
    message: "edit: old_string: half of a surrogate pair",
  });
  expect(made.get("a.txt")).toBe("😀\n");
});

test("edit shows both texts where there is no diff, and says when it replaces all", async () => {
  const made = await bench();
  const long = "x\n".repeat(40_000);
  const plan = await made.plan("edit", { ...args, new_string: long, replace_all: true });
  expect(plan.view).toMatchObject({ diff: "", params: { old_string: "two" } });
  expect(plan.view?.warnings?.map(english)).toEqual([
    "replaces every occurrence",
    "new_string is shown in part: 80000 characters",
  ]);
});
