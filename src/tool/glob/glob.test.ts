import { utimesSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { glob } from "./glob.ts";

function bench(): Bench {
  const made = new Bench([glob]);
  onTestFinished(() => made[Symbol.dispose]());
  for (const name of ["src/a.ts", "src/deep/b.ts", "c.md"]) utimesSync(made.put(name, ""), 1e9, 1e9);
  return made;
}

test("glob lists newest first, then by name, as the caller would write them", async () => {
  const made = bench();
  expect(await made.text("glob", { pattern: "**/*.ts" })).toBe("src/a.ts\nsrc/deep/b.ts");
  utimesSync(made.put("src/deep/b.ts", ""), 2e9, 2e9);
  expect(await made.text("glob", { pattern: "*.ts", path: "src" })).toBe("src/deep/b.ts\nsrc/a.ts");
});

test("glob counts what its limit cuts", async () => {
  const result = await bench().call("glob", { pattern: "*", limit: 1 });
  expect(textOf(result)).toBe("c.md\n[… 2 more; narrow the pattern]");
  expect(result.meta).toMatchObject({ count: 3, truncated: true, partial: false });
});

test("glob without matches is a success", async () => {
  expect(await bench().text("glob", { pattern: "*.py" })).toBe("No matches found");
});

test("glob needs a directory of the host", async () => {
  const made = bench();
  expect((await made.call("glob", { pattern: "*", path: "c.md" })).error?.message).toBe(
    "not a directory: c.md",
  );
  expect((await made.call("glob", { pattern: "*", path: "no" })).error?.code).toBe("NOT_FOUND");
  expect((await made.call("glob", { pattern: "*", path: "/proc" })).error?.code).toBe("INVALID");
});
