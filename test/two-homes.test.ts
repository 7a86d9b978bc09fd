/** Two homes of one user share a runtime directory: each has a daemon with its own settings, and neither takes the other's place. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Run, settled, World } from "./harness/world.ts";

let a: World;
let b: World;
beforeEach(() => {
  a = new World();
  b = new World({ XDG_RUNTIME_DIR: a.env.XDG_RUNTIME_DIR! });
});
// the first one's last: it sees whether the directory they share is empty
afterEach(async () => {
  await b.close();
  await a.close();
});

const shared = () => join(a.dir, "run/crux");
const ownerOf = (dir = shared()) =>
  JSON.parse(readFileSync(join(dir, "crux.owner"), "utf8")) as { pid: number; stateDir: string };
const stateOf = (world: World) => join(world.dir, "state/crux");
const NONE = { code: 0, stdout: "No active processes.\n", stderr: "" };

/** The OS pid of the daemon that serves a world, which is that world's own. */
async function daemonOf(world: World, env: Record<string, string> = {}): Promise<number> {
  const { stdout, stderr } = await world.crux(["daemon", "status", "--json"], { env });
  expect(stderr).toBe("");
  const { pid } = (JSON.parse(stdout) as { data: { pid: number } }).data;
  expect(world.commands(/daemon --internal$/)).toEqual([pid]);
  return pid;
}

async function killed(world: World): Promise<void> {
  process.kill(await daemonOf(world), "SIGKILL");
  await world.left(0);
}

it("ten commands of two homes at once meet in two daemons, each with its own home", async () => {
  const homes = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? a : b));
  const runs = await Promise.all(homes.map((world) => world.crux(["ps"])));
  for (const run of runs) expect(run).toMatchObject(NONE);
  const [pidA, pidB] = [await daemonOf(a), await daemonOf(b)];
  expect(pidA).not.toBe(pidB);
  for (const world of [a, b]) expect(world.log().match(/ running \(PID /g)).toHaveLength(1);
  // whichever came first has the usual place
  const [first, second] = ownerOf().pid === pidA ? [a, b] : [b, a];
  expect(ownerOf().stateDir).toBe(stateOf(first));
  const below = readdirSync(shared()).find((name) => /^[0-9a-f]{8}$/.test(name)) ?? "none";
  expect(ownerOf(join(shared(), below)).stateDir).toBe(stateOf(second));
  expect((await second.crux(["daemon", "stop"])).code).toBe(0);
  expect(existsSync(join(shared(), below))).toBe(false);
  expect(await daemonOf(first)).toBe(ownerOf().pid);
});

it("kill -9 frees the place, for either home, and nobody waits for what was left", async () => {
  await a.crux(["ps"]);
  await killed(a);
  expect(await b.crux(["ps"])).toMatchObject(NONE);
  expect(ownerOf()).toEqual({ pid: await daemonOf(b), stateDir: stateOf(b) });
  expect(await a.crux(["ps"])).toMatchObject(NONE);
  expect(ownerOf().pid).toBe(await daemonOf(b));
  // the one below is killed, and the place is free again
  await killed(a);
  expect((await b.crux(["daemon", "stop"])).code).toBe(0);
  expect(await a.crux(["ps"])).toMatchObject(NONE);
  expect(ownerOf()).toEqual({ pid: await daemonOf(a), stateDir: stateOf(a) });
  expect(readdirSync(shared()).filter((name) => !name.startsWith("crux."))).toEqual([]);
});

it("a daemon that does not answer holds up its own home alone", async () => {
  await a.crux(["ps"]);
  const pid = await daemonOf(a);
  process.kill(pid, "SIGSTOP");
  expect(await b.crux(["ps"])).toMatchObject(NONE);
  process.kill(pid, "SIGCONT");
  expect(await daemonOf(b)).not.toBe(await daemonOf(a));
});

it("a stop, and a start, of one home leave the other's daemon alone", async () => {
  await a.crux(["ps"]);
  const pid = await daemonOf(a);
  expect(await b.crux(["daemon", "status"])).toMatchObject({ code: 1, stdout: "[daemon] not running\n" });
  await b.crux(["daemon", "stop"]);
  expect((await b.crux(["daemon", "restart"])).code).toBe(0);
  expect(await daemonOf(a)).toBe(pid);
});

function conflict(run: Run, dir: string, pid: number): void {
  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toBe(
    `✗ [CONFLICT] ${dir} is in use by the daemon (PID ${pid}) of ${stateOf(a)}, which has other settings and agents\n` +
      "  → hint: set XDG_RUNTIME_DIR, or CRUX_SOCKET, to a directory of your own; or stop the other daemon with its HOME: crux daemon stop\n",
  );
}

it("with CRUX_SOCKET a client takes whoever listens there; a daemon takes no other's folder", async () => {
  const dir = join(a.dir, "named");
  mkdirSync(dir, { mode: 0o700 });
  const env = { CRUX_SOCKET: join(dir, "a.sock") };
  expect(await a.crux(["ps"], { env })).toMatchObject(NONE);
  const pid = await daemonOf(a, env);
  expect(await b.crux(["ps"], { env })).toMatchObject(NONE);
  expect(b.processes()).toEqual([]);
  const files = readdirSync(dir);
  conflict(await b.crux(["ps"], { env: { CRUX_SOCKET: join(dir, "b.sock") } }), dir, pid);
  expect([readdirSync(dir), await daemonOf(a, env)]).toEqual([files, pid]);
  expect(b.log()).toContain("[CONFLICT]");
  expect((await a.crux(["daemon", "stop"], { env })).code).toBe(0);
  expect(readdirSync(dir)).toEqual([]);
});

it("where no path below is possible, a client refuses the other home's daemon", async () => {
  // the usual socket has 100 bytes; one below would have more than 107
  const run = join(a.dir, "x".repeat(100 - `${a.dir}//crux/crux.sock`.length));
  mkdirSync(run, { mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: run };
  expect(await a.crux(["ps"], { env })).toMatchObject(NONE);
  const pid = await daemonOf(a, env);
  for (const words of [["ps"], ["daemon", "stop"], ["daemon", "start"]])
    conflict(await b.crux(words, { env }), join(run, "crux"), pid);
  expect((await a.crux(["daemon", "stop"], { env })).code).toBe(0);
  await settled(
    () => a.processes(),
    (left) => left.length === 0,
  );
  rmSync(run, { recursive: true });
});
