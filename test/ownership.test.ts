/** Whatever is killed, and however: no OS process outlives its owner. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { commandOf, naming, newTag, running } from "../src/dev/host/testing.ts";
import { unconfined } from "./harness/confined.ts";
import { startStubborn } from "./harness/stubborn.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";

let world: World;

beforeEach(async () => {
  world = new World();
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
});
afterEach(() => world.close());

const isNone = (pids: readonly number[]): boolean => pids.length === 0;

/** A native of the project `one`, and what it has started; both have the name `tag`. */
async function startNative(tag: string): Promise<void> {
  const deaf = "trap '' TERM HUP INT";
  const script = `${deaf}; (setsid bash -c "${deaf}; exec -a ${tag} sleep 300" &); exec -a ${tag} sleep 300`;
  const services = { native: { command: ["bash", "-c", script], restart: "temporary" } };
  await using wire = await Wire.open(world.socket);
  const up = { file: { name: "one", services }, dir: world.work, detach: true, env: world.env };
  expect(await wire.ask("compose.up", up)).toMatchObject({ ok: true });
  await wire.rest();
  expect(
    await settled(
      () => running(`${tag} 300`).length,
      (count) => count === 2,
    ),
  ).toBe(2);
}

it("kill -9 of the daemon with 50 natives and 5 MCP servers: all are gone", async ({ skip }) => {
  // what has left its session and its marks is known by its namespace alone
  skip(unconfined !== undefined, unconfined);
  const { left } = await startStubborn(world);
  expect(left().length).toBeGreaterThan(100);
  const began = performance.now();
  process.kill(world.daemonPid!, "SIGKILL");
  expect(await settled(left, isNone)).toEqual([]);
  console.log(`all gone ${Math.round(performance.now() - began)} ms after kill -9 of the daemon`);
  // the next daemon has the project again, finds that none of its programs is to be started a second time, and ends it
  const nothing = async () => (await world.crux(["ps"])).stdout;
  expect(await settled(nothing, (shown) => !shown.includes("running"))).toMatch(/\b0 active\b/);
  // it also tries its sandbox as it starts
  const rest = await settled(left, (pids) => pids.length === 1);
  expect(rest.map(commandOf)).toEqual([expect.stringContaining("daemon --internal")]);
});

it("the orderly stop of the daemon ends them too", async ({ skip }) => {
  skip(unconfined !== undefined, unconfined);
  const { left } = await startStubborn(world);
  const stop = await world.crux(["daemon", "stop"]);
  expect(stop.code).toBe(0);
  // what was killed may still be on its way out
  expect((await settled(left, isNone)).map(commandOf)).toEqual([]);
});

interface Row {
  readonly pid: number;
  readonly kind: string;
  readonly exit: { readonly code: number; readonly reason: string } | null;
}
async function natives(): Promise<readonly Row[]> {
  await using wire = await Wire.open(world.socket);
  const { processes } = (await wire.ask("process.list"))!.payload as { processes: Row[] };
  return processes.filter(({ kind }) => kind === "native");
}

it("crux kill -s KILL of a native takes all it started", async () => {
  const tag = newTag();
  await startNative(tag);
  const [native] = await natives();
  expect((await world.crux(["kill", "-s", "KILL", String(native!.pid)])).code).toBe(0);
  expect(await settled(() => naming(tag), isNone)).toEqual([]);
});

it("a native whose programs are killed behind the kernel's back is over, and the daemon goes on", async () => {
  const tag = newTag();
  await startNative(tag);
  for (const pid of running(`${tag} 300`)) process.kill(pid, "SIGKILL");
  expect(await settled(() => naming(tag), isNone)).toEqual([]);
  const over = await settled(natives, (all) => all.every(({ exit }) => exit !== null));
  for (const { exit } of over) expect(exit).toMatchObject({ code: 137, reason: "killed: SIGKILL" });
});
