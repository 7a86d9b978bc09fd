import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

function bench() {
  const dir = mkdtempSync(join(tmpdir(), "crux-notes-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "MEMORY.md"), "- [Tests](tests.md) — no mocks\n- [Old](old.md) — x\n");
  writeFileSync(join(dir, "tests.md"), "No mocks.\n");
  mkdirSync(join(dir, "agents/reviewer"), { recursive: true });
  writeFileSync(join(dir, "agents/reviewer/tests.md"), "Mine.\n");
  const note = (name: string, problem = "") => ({
    ...{
      scope: "local",
      path: join(dir, name),
      bytes: 10,
      type: "feedback",
      description: "no mocks",
      problem,
    },
  });
  const found = {
    folders: { local: dir, user: "/u" },
    notes: [note("MEMORY.md"), note("old.md", "no type"), note("agents/reviewer/tests.md"), note("tests.md")],
  };
  const run = (line: string) => crux(line, { daemon: new FakeDaemon({ "memory.list": () => found }) });
  return { dir, run };
}

test("memory lists notes with their folders, shows one, and checks them", async () => {
  const { dir, run } = bench();
  const { out } = await run("memory");
  expect(out).toMatch(/NOTE +OF +TYPE/);
  expect(out).toMatch(/old\.md ! +project +feedback +10 +no type/);
  expect(out).toContain(`This project: ${dir}\n`);
  expect((await run("memory show tests")).out).toBe(`# ${join(dir, "tests.md")}\nNo mocks.\n`);
  expect(out).toMatch(/reviewer\/tests\.md +project/);
  expect((await run("memory show reviewer/tests -q")).out).toBe("Mine.\n");
  expect(await run("memory check")).toMatchObject({
    code: 1,
    out: expect.stringContaining("old.md: no type\n"),
  });
  expect(await run("memory show test")).toMatchObject({
    code: 1,
    err: expect.stringContaining("Near: tests"),
  });
});

test("memory undo takes back what was tidied, but for a note that has changed since, and once", async () => {
  const { dir, run } = bench();
  const of = (text: string) => createHash("sha256").update(text).digest("hex");
  const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
  const kept = [
    { file: "tests.md", was: "OLD\n", now: of("No mocks.\n") },
    { file: "gone.md", was: "GONE\n", now: null },
    { file: "new.md", was: null, now: of("NEW\n") },
    { file: "mine.md", was: "THEIRS\n", now: of("TIDIED\n") },
  ];
  put("new.md", "NEW\n");
  put("mine.md", "MINE\n");
  put(".before.md", JSON.stringify(kept));
  expect(await run("memory undo")).toMatchObject({
    code: 1,
    out: expect.stringContaining(`left as it is: ${join(dir, "mine.md")}\n`),
  });
  const text = (name: string) => readFileSync(join(dir, name), "utf8");
  expect([text("tests.md"), text("gone.md"), text("mine.md")]).toEqual(["OLD\n", "GONE\n", "MINE\n"]);
  expect(existsSync(join(dir, "new.md"))).toBe(false);
  expect(await run("memory undo")).toMatchObject({ code: 1, err: expect.stringContaining("NOT_FOUND") });
});

test("memory forget removes the note and its line in the index, and nothing else", async () => {
  const { dir, run } = bench();
  expect((await run("memory forget tests.md")).code).toBe(0);
  expect(existsSync(join(dir, "tests.md"))).toBe(false);
  expect(readFileSync(join(dir, "MEMORY.md"), "utf8")).toBe("- [Old](old.md) — x\n");
  expect((await run("memory forget MEMORY.md")).code).toBe(1);
  expect(existsSync(join(dir, "MEMORY.md"))).toBe(true);
});
