import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readOwner, takeLease } from "./lease.ts";

let dir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-lease-"));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  rmSync(dir, { recursive: true });
});

/** Tries to take the lease, says the outcome, then stays until its end. */
const TAKER = `
  import { takeLease } from ${JSON.stringify(new URL("./lease.ts", import.meta.url).href)};
  const lease = await takeLease(process.argv[1]);
  process.stdout.write(lease === null ? "busy" : "held");
  setInterval(() => {}, 60_000);
`;

async function startTaker(): Promise<{ child: ChildProcess; outcome: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", TAKER, dir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [said] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, outcome: said.toString() };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("takeLease() of ten processes at once is given to exactly one, and is free when that one is killed", async () => {
  const takers = await Promise.all(Array.from({ length: 10 }, startTaker));
  const holders = takers.filter((taker) => taker.outcome === "held");
  expect(takers.map((taker) => taker.outcome).filter((outcome) => outcome === "busy")).toHaveLength(9);
  expect(holders).toHaveLength(1);
  expect(readOwner(dir)?.pid).toBe(holders[0]?.child.pid);
  expect(await takeLease(dir)).toBeNull();
  await kill(holders[0]!.child);
  const lease = await takeLease(dir);
  expect(lease).not.toBeNull();
  expect(readOwner(dir)?.pid).toBe(process.pid);
  lease?.release();
});

test("takeLease() is null for a second taker of the same process, until release()", async () => {
  const lease = await takeLease(dir);
  expect(await takeLease(dir)).toBeNull();
  lease?.release();
  lease?.release();
  const next = await takeLease(dir);
  expect(next).not.toBeNull();
  next?.release();
});

test("describe() adds to owner.json, release() removes it, nothing else is left", async () => {
  const lease = await takeLease(dir);
  lease?.describe({ kernelId: "k", epoch: 3 });
  expect(readOwner(dir)).toMatchObject({ pid: process.pid, kernelId: "k", epoch: 3 });
  expect(statSync(join(dir, "owner.json")).mode & 0o777).toBe(0o600);
  lease?.release();
  expect(readOwner(dir)).toBeNull();
  expect(readdirSync(dir)).toEqual(["lease.db"]);
});

test("release() leaves owner.json to another owner", async () => {
  const lease = await takeLease(dir);
  writeFileSync(join(dir, "owner.json"), JSON.stringify({ pid: 1, startTime: null, since: 0 }));
  lease?.release();
  expect(readOwner(dir)).toMatchObject({ pid: 1 });
});

test("takeLease() is UNAVAILABLE where no directory can be", async () => {
  const lease = await takeLease(dir);
  await expect(takeLease(join(dir, "lease.db", "x"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  lease?.release();
});
