import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

function clone(): string {
  const folder = mkdtempSync(join(tmpdir(), "crux setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["scripts", "package.json", "package-lock.json"])
    cpSync(join(import.meta.dirname, "..", name), join(folder, name), { recursive: true });
  return folder;
}

test("set-up that is stopped says how to continue, ends what it started and leaves no lock", async () => {
  const root = clone();
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: root };
  const setup = spawn(process.execPath, [join(root, "scripts/setup.mjs")], { env, cwd: root });
  let said = "";
  setup.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text.includes("installing")) setup.kill("SIGTERM");
  });
  // once npm, which has these streams too, has ended
  const [code] = await once(setup, "close");
  expect(said.split("\n").slice(1)).toEqual([
    "crux: the set-up was stopped. Run the same command again: it continues with what is missing.",
    "",
  ]);
  expect([code, readdirSync(join(root, "node_modules"))]).toEqual([143, []]);
});

test("set-up in a folder that cannot be written says so, without a stack", () => {
  const root = clone();
  writeFileSync(join(root, "node_modules"), "");
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/setup.mjs")], {
    encoding: "utf8",
  });
  const [first, ...more] = stderr.trimEnd().split("\n");
  expect([status, first]).toEqual([1, expect.stringContaining(`crux: cannot be set up in ${root}: `)]);
  expect(more).toEqual([expect.stringContaining("Make this folder writable")]);
});
