/** Projects across daemons that are killed: they come back in order, once, within their intensity, and go down leaving nothing. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beforeTries } from "./harness/stage.ts";
import { type Run, settled, World } from "./harness/world.ts";

let world: World;
/** The compose file of one test, in a folder of its own. */
let dir: string;
let tests = 0;

beforeTries(
  () => {
    // a daemon that dies again and again is what is tried here
    world = new World({ CRUX_SAFE_MODE_AFTER: "0" });
  },
  () => world.close(),
);
beforeEach(() => {
  tests += 1;
  dir = join(world.work, `shop-${tests}`);
  mkdirSync(dir);
});
afterEach(async () => {
  await crux("down");
  expect(await processes()).toEqual([]);
});

const crux = (...args: string[]): Promise<Run> =>
  world.crux(["compose", ...args, ...(args[0] === "up" ? ["--trust"] : [])], { cwd: dir });
const file = (content: string): void => writeFileSync(join(dir, "crux.compose.yaml"), content);

async function processes(): Promise<number[]> {
  const { stdout } = await world.crux(["ps", "-q"]);
  return stdout.split("\n").filter(Boolean).map(Number);
}

interface Row {
  readonly service: string;
  readonly pid: number | null;
  readonly state: string;
  readonly restarts: number;
  readonly note?: string;
}

async function rows(): Promise<readonly Row[]> {
  const { stdout } = await crux("ps", "--json");
  const { data } = JSON.parse(stdout || "{}") as { data?: { services: Row[] } };
  return data?.services ?? [];
}

const when = (wanted: (all: readonly Row[]) => boolean): Promise<readonly Row[]> => settled(rows, wanted);
const named = (all: readonly Row[], name: string): Row => all.find(({ service }) => service === name) as Row;
/** OS processes of the services. */
const sleeping = (): number => world.commands(/^(?:\S*\/)?sleep 30[0-9]$/).length;
const sleepers = (count: number): Promise<number> => settled(sleeping, (found) => found === count);

/** As the kernel or a power cut would. */
async function killDaemon(): Promise<void> {
  const pid = world.daemonPid as number;
  process.kill(pid, "SIGKILL");
  // nothing of a daemon outlives it
  expect(await sleepers(0)).toBe(0);
}

const FIVE = (maxRestarts: number): string => `name: five
intensity: { max_restarts: ${maxRestarts}, window_ms: 600000 }
backoff: { initial_ms: 20, factor: 1, jitter: 0 }
services:
  web:
    command: [sleep, "300"]
    restart: permanent
    depends_on: [api, worker]
  api:
    command: [sleep, "300"]
    restart: permanent
    depends_on: { db: { condition: ready }, migrate: { condition: completed } }
  worker:
    command: [sleep, "300"]
    restart: transient
    depends_on: [db]
  migrate:
    command: [sh, -c, "echo migrated >> migrations"]
    depends_on: { db: { condition: ready } }
  db:
    command: [sh, -c, "echo listening; exec sleep 300"]
    restart: permanent
    ready: { stdout: ^listening$, timeout_ms: 20000 }
`;
const allUp = (all: readonly Row[]): boolean =>
  all.length === 5 &&
  all.every(({ service, state }) => state === (service === "migrate" ? "dead" : "running"));

describe("a project whose daemon is killed three times", () => {
  it("comes back each time, in order, once; only a failure of its own counts, and fails it", async () => {
    file(FIVE(0));
    expect((await crux("up", "-d")).code).toBe(0);
    let before = await when(allUp);
    expect(allUp(before)).toBe(true);
    for (const round of [1, 2, 3]) {
      await killDaemon();
      const after = await when(allUp);
      expect({ round, after }).toEqual({ round, after: expect.toSatisfy(allUp) });
      for (const name of ["db", "api", "worker", "web"]) {
        expect(named(after, name).restarts).toBe(round);
        expect(named(after, name).pid).toBeGreaterThan(Math.max(...before.map(({ pid }) => pid ?? 0)));
      }
      // pids rise: each came after what it waits for
      const pidOf = (name: string): number => named(after, name).pid as number;
      expect(pidOf("api")).toBeGreaterThan(pidOf("db"));
      expect(pidOf("worker")).toBeGreaterThan(pidOf("db"));
      expect(pidOf("web")).toBeGreaterThan(Math.max(pidOf("api"), pidOf("worker")));
      // what has completed is not done again
      expect(named(after, "migrate").pid).toBe(named(before, "migrate").pid);
      expect(world.file(`shop-${tests}/migrations`)).toBe("migrated\n");
      expect(await sleepers(4)).toBe(4);
      expect(await processes()).toHaveLength(5);
      before = after;
    }
    expect((await crux("logs", "db")).stdout).toContain("brought back by a new daemon");
    // none of the twelve restarts counted; the end of a permanent service is one restart too many
    await world.crux(["kill", String(named(before, "db").pid)]);
    expect((await world.crux(["wait", "1"])).stdout).toContain("PID 1 exited(1)");
    expect((await world.crux(["logs", "1"])).stdout).toContain("restart intensity exceeded: db-1");
    expect(await processes()).toEqual([]);
    expect(await sleepers(0)).toBe(0);
    expect((await crux("ps")).stderr).toMatch(/NOT_FOUND/);
  });

  it("is found by up, ps, logs and down", async () => {
    file(FIVE(100));
    await crux("up", "-d");
    await when(allUp);
    await killDaemon();
    const back = await when(allUp);
    const again = await crux("up", "-d");
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
    // the same definitions: nothing is started anew
    expect((await rows()).map(({ pid }) => pid)).toEqual(back.map(({ pid }) => pid));
    file(FIVE(100).replace('worker:\n    command: [sleep, "300"]', 'worker:\n    command: [sleep, "301"]'));
    await crux("up", "-d");
    const changed = await when((all) => allUp(all) && named(all, "worker").pid !== named(back, "worker").pid);
    expect(named(changed, "db").pid).toBe(named(back, "db").pid);
    await killDaemon();
    // by the new definition
    expect(allUp(await when(allUp))).toBe(true);
    expect(
      await settled(
        () => world.commands(/^(?:\S*\/)?sleep 301$/).length,
        (found) => found === 1,
      ),
    ).toBe(1);
    expect(await crux("down")).toMatchObject({ code: 0, stdout: "[compose] five: stopped\n" });
    expect(await sleepers(0)).toBe(0);
    await killDaemon();
    expect(await processes()).toEqual([]);
  });

  it("a service whose definition changed, or whose file is gone, is not started and says why", async () => {
    const two = (seconds: number): string => `name: two
backoff: { initial_ms: 20, jitter: 0 }
services:
  a: { command: [sleep, "300"], restart: permanent }
  b: { command: [sleep, "${seconds}"], restart: permanent }
`;
    file(two(300));
    await crux("up", "-d");
    expect(await sleepers(2)).toBe(2);
    file(two(302));
    await killDaemon();
    const after = await when((all) => all.length === 2 && named(all, "a").state === "running");
    expect(named(after, "b")).toMatchObject({
      state: "skipped",
      note: expect.stringMatching(/^not started: its definition.* differs from the one it was started with$/),
    });
    expect((await crux("ps")).stdout).toMatch(/\nb-1: not started: its definition/);
    expect((await crux("logs", "b")).stdout).toMatch(/b-1 \| not started: its definition/);
    // a person says that the new one is meant
    await crux("up", "-d");
    expect((await when((all) => all.every(({ state }) => state === "running"))).length).toBe(2);
    expect(world.commands(/^(?:\S*\/)?sleep 302$/)).toHaveLength(1);

    rmSync(join(dir, "crux.compose.yaml"));
    await killDaemon();
    for (const pid of await processes()) await world.crux(["wait", String(pid)]);
    expect(await processes()).toEqual([]);
    expect((await world.crux(["compose", "-p", "two", "logs"])).stdout).toContain("it is gone");
    expect(await sleepers(0)).toBe(0);
    file(two(302));
  });
});

describe("a daemon that is stopped", () => {
  it("leaves no project to the next one", async () => {
    file(FIVE(100));
    await crux("up", "-d");
    await when(allUp);
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    expect(sleeping()).toBe(0);
    expect(await processes()).toEqual([]);
    expect((await crux("ps")).stderr).toMatch(/NOT_FOUND/);
    expect(await sleepers(0)).toBe(0);
  });
});

describe("kill -9 at any moment", () => {
  it("no service is there twice, and none is lost", async () => {
    file(FIVE(1_000));
    await crux("up", "-d");
    // the seed is printed with a failure
    let seed = 20_260_101;
    for (let round = 0; round < 8; round++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      const delayMs = seed % 600;
      void world.crux(["ps"]);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      const pid = world.daemonPid;
      if (pid !== undefined && world.processes().includes(pid)) process.kill(pid, "SIGKILL");
      await sleepers(0);
    }
    const after = await when(allUp);
    expect({ seed, up: allUp(after) }).toEqual({ seed, up: true });
    expect(await sleepers(4)).toBe(4);
    expect((await processes()).sort()).toEqual((await supervised()).sort());
    expect(world.file(`shop-${tests}/migrations`).length).toBeGreaterThan(0);
  });
});

/** The supervisor, and what runs below it. */
async function supervised(): Promise<number[]> {
  const { stdout } = await crux("ps", "--json");
  const { data } = JSON.parse(stdout) as { data: { pid: number; services: Row[] } };
  return [
    data.pid,
    ...data.services.filter(({ state }) => state === "running").map(({ pid }) => pid as number),
  ];
}
