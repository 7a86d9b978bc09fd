import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { view } from "../view/view.ts";
import { multiEdit } from "./multi_edit.ts";

async function bench(content = "one\ntwo\nthree\n"): Promise<Bench> {
  const made = new Bench([view, multiEdit]);
  onTestFinished(() => made[Symbol.dispose]());
  made.put("a.txt", content);
  await made.call("view", { file_path: "a.txt" });
  return made;
}

const call = (made: Bench, ...edits: object[]) => made.call("multi_edit", { file_path: "a.txt", edits });
const change = (old_string: string, new_string: string) => ({ old_string, new_string });

test("multi_edit makes all edits in order, each on the result of the one before, with one write", async () => {
  const made = await bench();
  made.asked = [];
  const result = await call(made, change("one", "uno"), change("uno\ntwo", "1 2"), {
    ...change("e", "E"),
    replace_all: "true",
  });
  expect(made.get("a.txt")).toBe("1 2\nthrEE\n");
  expect(textOf(result)).toBe("Edited a.txt: 3 edits, 4 replacements, +2 -3 lines");
  expect(result.meta).toMatchObject({ old_content: "one\ntwo\nthree\n", new_content: "1 2\nthrEE\n" });
  expect(made.asked.filter(({ op }) => op === "write")).toHaveLength(1);
});

test("multi_edit: a failing third edit leaves the file and is named", async () => {
  const made = await bench();
  const result = await call(made, change("one", "1"), change("two", "2"), change("one", "uno"));
  expect(result.error).toEqual({
    code: "INVALID",
    message:
      "edit 3 of 3: old_string not found in file. Make sure it matches exactly, including whitespace and line breaks.",
  });
  expect(made.get("a.txt")).toBe("one\ntwo\nthree\n");
});

test("multi_edit names an edit that is empty, equal or ambiguous, before it looks at later ones", async () => {
  const made = await bench("x x");
  for (const [edit, message] of [
    [change("", "a"), "edit 2 of 2: old_string is empty"],
    [change("a", "a"), "edit 2 of 2: old_string and new_string are equal"],
    [change("x", "y"), /^edit 2 of 2: old_string appears multiple times/],
  ] as const) {
    const result = await call(made, change("x x", "x  x"), edit);
    expect(result.error?.message).toMatch(message);
  }
  expect(made.get("a.txt")).toBe("x x");
});

test("multi_edit that comes to nothing is refused, and writes nothing", async () => {
  const made = await bench();
  const result = await call(made, change("one", "uno"), change("uno", "one"));
  expect(result.error?.message).toBe("the edits together change nothing");
});

test("multi_edit: an unknown key of an edit is refused, no edits and 101 as well", async () => {
  const made = await bench();
  const plan = (edits: unknown) => made.plan("multi_edit", { file_path: "a.txt", edits });
  await expect(plan([{ ...change("a", "b"), line: 1 }])).rejects.toMatchObject({ code: "INVALID" });
  await expect(plan([])).rejects.toMatchObject({ code: "INVALID" });
  await expect(plan(Array.from({ length: 101 }, () => change("a", "b")))).rejects.toMatchObject({
    code: "INVALID",
  });
});

test("multi_edit keeps the guard: not viewed, and changed since", async () => {
  const made = await bench();
  made.put("b.txt", "one");
  const unseen = await made.call("multi_edit", { file_path: "b.txt", edits: [change("one", "1")] });
  expect(unseen.error).toMatchObject({
    code: "CONFLICT",
    message: "file has not been read: b.txt. View it first",
  });
  made.put("a.txt", "one!");
  const changed = await call(made, change("one", "1"));
  expect(changed.error).toMatchObject({
    code: "CONFLICT",
    message: "file has changed since it was read: a.txt. View it again",
  });
});
