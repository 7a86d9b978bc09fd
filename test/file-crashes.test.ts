/** kill -9 at random points of writes: the old file or the new one, whole, with its mode and links, and nothing beside it. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { mendFile } from "../src/dev/fs/mend.ts";
import { sweepTemp } from "../src/dev/fs/temp-file.ts";

const WRITER = fileURLToPath(new URL("harness/writing.ts", import.meta.url));
/** Of both kinds together: 200. */
const KILLS = 100;
const MODE = 0o640;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function contentOf(n: number): Buffer {
  return Buffer.alloc(200_000 + ((n * 7919) % 400_000), `${n},`);
}

/** Resolves when it is dead. `afterMs`: from its first write on. */
async function writeUntilKilled(folder: string, first: number, afterMs: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [WRITER, folder, "a.txt", `${first}`], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "code") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = first - 1;
  const dead = new Promise<void>((resolve) => child.on("close", () => resolve()));
  child.stdout?.on("data", (chunk: Buffer) => {
    if (last === first - 1) setTimeout(() => child.kill("SIGKILL"), afterMs);
    last = Number(chunk.toString().trim().split("\n").at(-1));
  });
  await dead;
  return last;
}

describe.each([
  ["a file of one name", false],
  ["a file with two hard links", true],
])("%s", (_, isLinked) => {
  it(`is whole after each of ${KILLS} kills`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "crux-writes-"));
    folders.push(folder);
    const work = join(folder, "work");
    mkdirSync(work);
    const path = join(work, "a.txt");
    writeFileSync(path, contentOf(0));
    chmodSync(path, MODE);
    if (isLinked) linkSync(path, join(work, "b.txt"));
    const found = { old: 0, next: 0, mended: 0 };
    let version = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = await writeUntilKilled(folder, version + 1, (kill * 37) % 60);
      // as boot does it
      if (await mendFile(path, readFileSync(join(folder, "kept")))) found.mended++;
      await sweepTemp(path);
      const now = readFileSync(path);
      version = now.equals(contentOf(acknowledged + 1)) ? acknowledged + 1 : acknowledged;
      found[version === acknowledged ? "old" : "next"]++;
      expect(now.equals(contentOf(version)), `kill ${kill}: version ${acknowledged} or the next`).toBe(true);
      expect(statSync(path).mode & 0o7777).toBe(MODE);
      expect(readdirSync(work).sort()).toEqual(isLinked ? ["a.txt", "b.txt"] : ["a.txt"]);
    }
    if (isLinked) expect(readFileSync(join(work, "b.txt")).equals(readFileSync(path))).toBe(true);
    expect(statSync(path).nlink).toBe(isLinked ? 2 : 1);
    // a kill between two writes proves nothing: many must have met one
    expect(found.old).toBeGreaterThan(0);
    if (!isLinked) expect(found.mended).toBe(0);
  });
});
