import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockFile } from "./file-lock.ts";

let dir = "";
let path = "";
const children: ChildProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-lock-"));
  path = join(dir, "crux.lock");
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

/** Another process: says whether it got the lock, and holds it until it is killed. */
async function other(): Promise<{ said: string; child: ChildProcess }> {
  const module = fileURLToPath(new URL("file-lock.ts", import.meta.url));
  const script = `import { lockFile } from ${JSON.stringify(module)};
globalThis.lock = lockFile(${JSON.stringify(path)});
console.log(globalThis.lock === null ? "held" : "locked");
setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { said: String(line).trim(), child };
}

it("lockFile() is one process's alone, and kill -9 frees it", async () => {
  const first = await other();
  expect([first.said, (await other()).said, lockFile(path)]).toEqual(["locked", "held", null]);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const mine = lockFile(path);
  expect([mine === null, (await other()).said]).toEqual([false, "held"]);
  mine?.release();
  mine?.release();
  expect(existsSync(path)).toBe(false);
  expect((await other()).said).toBe("locked");
});

it("release() leaves alone what another has made there since", () => {
  const lock = lockFile(path);
  rmSync(path);
  writeFileSync(path, "the next one's");
  lock?.release();
  expect(existsSync(path)).toBe(true);
});

it("lockFile() follows no link, and a folder that is not there is UNAVAILABLE", () => {
  symlinkSync(join(dir, "elsewhere"), path);
  expect(() => lockFile(path)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  expect(() => lockFile(join(dir, "none/crux.lock"))).toThrow(
    expect.objectContaining({ code: "UNAVAILABLE" }),
  );
  expect(existsSync(join(dir, "elsewhere"))).toBe(false);
});
