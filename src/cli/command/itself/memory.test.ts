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

test("memory forget removes the note and its line in the index, and nothing else", async () => {
  const { dir, run } = bench();
  expect((await run("memory forget tests.md")).code).toBe(0);
  expect(existsSync(join(dir, "tests.md"))).toBe(false);
  expect(readFileSync(join(dir, "MEMORY.md"), "utf8")).toBe("- [Old](old.md) — x\n");
  expect((await run("memory forget MEMORY.md")).code).toBe(1);
  expect(existsSync(join(dir, "MEMORY.md"))).toBe(true);
});
