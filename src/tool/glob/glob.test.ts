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

test("glob takes an absolute pattern, and one that leads out, as a path is written", async () => {
  const made = bench();
  const { root } = made;
  for (const name of ["other/x.ts", "other/deep/x.ts"]) utimesSync(made.put(name, ""), 1e9, 1e9);
  expect(await made.text("glob", { pattern: `${root}/src/*.ts` })).toBe(`${root}/src/a.ts`);
  expect(await made.text("glob", { pattern: `${root}/src/**/*.ts` })).toBe(
    `${root}/src/a.ts\n${root}/src/deep/b.ts`,
  );
  expect(await made.text("glob", { pattern: `${root}/c.md` })).toBe(`${root}/c.md`);
  expect(await made.text("glob", { pattern: `${root}/x.*` })).toBe("No matches found");
  expect(await made.text("glob", { pattern: "../other/*.ts", path: "src" })).toBe("other/x.ts");
  expect(await made.text("glob", { pattern: "./*.md" })).toBe("c.md");
  const reads = (await made.plan("glob", { pattern: "/etc/host*" })).effects;
  expect(reads).toEqual([{ kind: "read", path: "/etc", subtree: true }]);
  expect((await made.call("glob", { pattern: "/proc/*/status" })).error?.code).toBe("INVALID");
});

test("glob counts what its limit cuts, and goes on from an offset to the end", async () => {
  const made = bench();
  const result = await made.call("glob", { pattern: "*", limit: 1 });
  expect(textOf(result)).toBe("c.md\n[… 2 more; narrow the pattern, or continue with offset=1]");
  expect(result.meta).toMatchObject({ count: 3, truncated: true, partial: false });
  const next = await made.call("glob", { pattern: "*", limit: 1, offset: 1 });
  expect(textOf(next)).toBe("src/a.ts\n[… 1 more; narrow the pattern, or continue with offset=2]");
  const last = await made.call("glob", { pattern: "*", limit: 1, offset: 2 });
  expect(textOf(last)).toBe("src/deep/b.ts");
  expect(last.meta).toMatchObject({ count: 3, truncated: false });
  const past = await made.call("glob", { pattern: "*", offset: 3 });
  expect(past.error).toMatchObject({ code: "INVALID", message: "offset 3 is past the end: 3 files" });
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
