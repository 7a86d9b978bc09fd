import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { ls } from "./ls.ts";

function bench(files: string[] = ["z.md", "src/deep/b.ts", "src/a.ts", ".hidden"]): Bench {
  const made = new Bench([ls]);
  onTestFinished(() => made[Symbol.dispose]());
  for (const name of files) made.put(name, "");
  return made;
}

test("ls prints a tree, directories first, hidden files left out", async () => {
  const made = bench();
  const result = await made.call("ls", {});
  expect(textOf(result)).toBe("src/\n  deep/\n    b.ts\n  a.ts\nz.md");
  expect(result.meta).toEqual({ path: made.root, number_of_files: 3, truncated: false });
  expect(await made.text("ls", { path: "src", depth: "1", ignore: ["a.*"] })).toBe("deep/");
});

test("ls shows 1,000 entries and counts the others", async () => {
  const made = bench(Array.from({ length: 1412 }, (_, i) => `f${i}`));
  const lines = (await made.text("ls", {})).split("\n");
  expect(lines).toHaveLength(1001);
  expect(lines.at(-1)).toBe("[… 412 more; list a subdirectory]");
});

test("ls needs a directory", async () => {
  const made = bench();
  expect((await made.call("ls", { path: "z.md" })).error?.message).toBe("not a directory: z.md");
  expect((await made.call("ls", { path: "no" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "path not found: no",
  });
  expect(await bench([]).text("ls", {})).toBe("[directory is empty]");
});

test("ls lists Crux's own directories", async () => {
  const made = bench();
  made.crux.set("/proc", Buffer.from("[1,4]"));
  made.crux.set("/proc/1/intent", Buffer.from("do it"));
  made.crux.set("/var/out", Buffer.from('[{"name":"c_1","size":3}]'));
  expect(await made.text("ls", { path: "/proc/" })).toBe("1\n4");
  expect(await made.text("ls", { path: "/var/out" })).toBe("c_1");
  expect((await made.call("ls", { path: "/proc/1/intent" })).error?.code).toBe("INVALID");
});
