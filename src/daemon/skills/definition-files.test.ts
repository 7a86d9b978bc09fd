import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { definitionFiles } from "./definition-files.ts";

it("a pipe in the place of an agent or skill file keeps nobody waiting", async () => {
  const dir = mkdtempSync(join(tmpdir(), "crux-definitions-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  execFileSync("mkfifo", [join(dir, "SKILL.md")]);
  await expect(definitionFiles.readText(join(dir, "SKILL.md"))).rejects.toThrow("not a regular file");
});
