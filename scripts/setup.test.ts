import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

test("set-up that is stopped says how to continue, ends what it started and leaves no lock", async () => {
  const clone = mkdtempSync(join(tmpdir(), "crux setup-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ["scripts", "package.json", "package-lock.json"])
    cpSync(join(import.meta.dirname, "..", name), join(clone, name), { recursive: true });
  const bin = join(clone, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: clone };
  const setup = spawn(process.execPath, [join(clone, "scripts/setup.mjs")], { env, cwd: clone });
  let said = "";
  setup.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text.includes("installing")) setup.kill("SIGTERM");
  });
  const [code] = await once(setup, "close");
  expect(said.split("\n").slice(1)).toEqual([
    "crux: the set-up was stopped. Run the same command again: it continues with what is missing.",
    "",
  ]);
  expect([code, readdirSync(join(clone, "node_modules"))]).toEqual([143, []]);
});
