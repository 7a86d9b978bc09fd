import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeLeftovers } from "./leftovers.mjs";

test("removeLeftovers() removes the folders of builds that have ended, and of none that runs", () => {
  const root = mkdtempSync(join(tmpdir(), "crux-build-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const { pid: ended } = spawnSync("true");
  const kept = ["dist", `dist.tmp-${process.pid}`, `dist.old-${process.pid}`, "dist.tmp-mine"];
  for (const name of [...kept, `dist.tmp-${ended}`, `dist.old-${ended}`]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "cli.cjs"), "");
  }
  removeLeftovers(root);
  expect(readdirSync(root).sort()).toEqual(kept.sort());
});
