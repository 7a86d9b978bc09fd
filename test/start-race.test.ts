/** How a daemon begins and ends: many clients at once, what another has left behind, signals, idleness. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import * as net from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { statusEnd } from "./harness/confined.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { startModelServer } from "./model-server/server.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const DAEMON = /daemon --internal$/;
const daemons = () =>
  settled(
    () => world.commands(DAEMON),
    (pids) => pids.length === 1,
  );
const runtimeFiles = () => readdirSync(join(world.dir, "run/crux")).sort();
const gone = (pid: number) =>
  settled(
    () => existsSync(`/proc/${pid}/exe`),
    (there) => !there,
  );

it("ten commands at once without a daemon meet in one daemon", async () => {
  const runs = await Promise.all(Array.from({ length: 10 }, () => world.crux(["ps"])));
  for (const run of runs)
    expect(run).toMatchObject({ code: 0, stdout: "No active processes.\n", stderr: "" });
  expect(await daemons()).toEqual([world.daemonPid]);
  expect(runtimeFiles()).toEqual(["crux.cookie", "crux.lock", "crux.owner", "crux.pid", "crux.sock"]);
  expect(readFileSync(join(world.dir, "run/crux/crux.pid"), "utf8")).toBe(`${world.daemonPid}\n`);
  expect(world.log().match(/ running \(PID /g)).toHaveLength(1);
});

it("the socket and its folder are private", async () => {
  await world.crux(["ps"]);
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect([modeOf(join(world.dir, "run/crux")), modeOf(world.socket)]).toEqual(["700", "600"]);
});

it("a stale socket and a foreign pid in crux.pid are no daemon", async () => {
  const dir = join(world.dir, "run/crux");
  mkdirSync(dir, { mode: 0o700 });
  // a listener that was killed leaves its file behind
  const code = `require("net").createServer().listen(${JSON.stringify(world.socket)}, () => process.kill(process.pid, 9))`;
  await once(spawn(process.execPath, ["-e", code], { stdio: "ignore" }), "exit");
  expect(existsSync(world.socket)).toBe(true);
  writeFileSync(join(dir, "crux.pid"), `${process.pid}\n`);
  expect(await world.crux(["ps"])).toMatchObject({ code: 0, stdout: "No active processes.\n" });
  expect(await daemons()).toEqual([world.daemonPid]);
  expect(world.daemonPid).not.toBe(process.pid);
});

it("a plain file where the socket should be does not keep a daemon from starting", async () => {
  mkdirSync(join(world.dir, "run/crux"), { mode: 0o700 });
  writeFileSync(world.socket, "");
  expect(await world.crux(["ps"])).toMatchObject({ code: 0, stdout: "No active processes.\n" });
});

it("a second daemon ends with 0 and touches nothing", async () => {
  await world.crux(["ps"]);
  const [pid, inode] = [world.daemonPid, statSync(world.socket).ino];
  const second = await world.crux(["daemon", "--internal"]);
  expect(second).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  expect([world.daemonPid, statSync(world.socket).ino]).toEqual([pid, inode]);
  expect(await daemons()).toEqual([pid]);
  expect((await world.crux(["ps"])).code).toBe(0);
});

it("a folder that is open to others is refused, and nothing is started there", async () => {
  mkdirSync(join(world.dir, "run/crux"), { mode: 0o755 });
  const { code, stderr } = await world.crux(["ps"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^✗ \[PERMISSION\] /);
  expect(world.commands(DAEMON)).toEqual([]);
});

it.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends the processes, then the daemon, and removes its files",
  async (signal) => {
    await using server = await startModelServer({
      script: inTurn(toolUse({ name: "bash", input: { command: "sleep 300 & sleep 300" } }), text("never")),
    });
    const args = ["--permission-mode", "bypass", "work"];
    const run = world.start(args, { env: modelEnv(server) });
    const sleepers = await settled(
      () => world.commands(/^sleep 300$/),
      (pids) => pids.length === 2,
    );
    expect(sleepers).toHaveLength(2);
    const pid = world.daemonPid!;
    process.kill(pid, signal);
    const { code, stdout } = await run.done;
    expect(code).toBe(143);
    expect(stdout).toMatch(/\[kernel\] PID 1 exited\(143\) \| tokens: \d+ \| elapsed: \d+\.\ds\n$/);
    expect(await gone(pid)).toBe(false);
    expect(world.processes()).toEqual([]);
    expect(runtimeFiles()).toEqual([]);
    expect(world.log()).toContain(`stopping: ${signal}\n`);
    expect(world.log()).toMatch(/info stopped\n$/);
  },
);

it("an idle daemon stops by itself, and not while someone is connected", async () => {
  world.settings({ daemon: { idleTimeoutMs: 300 } });
  await world.crux(["ps"]);
  const pid = world.daemonPid!;
  const client = net.connect(world.socket);
  await once(client, "connect");
  client.write('{"method":"ping"}\n');
  await once(client, "data");
  const isThere = () => existsSync(`/proc/${pid}/exe`);
  // several times the idle time
  expect(await settled(isThere, (there) => !there, 1_500)).toBe(true);
  client.destroy();
  expect(await gone(pid)).toBe(false);
  expect(runtimeFiles()).toEqual([]);
  expect(world.log()).toContain("stopping: idle\n");
});

it("crux daemon says what it did: start, status, restart, stop", async () => {
  const out = async (...args: string[]) => (await world.crux(["daemon", ...args])).stdout;
  expect(await world.crux(["daemon", "status"])).toMatchObject({ code: 1, stdout: "[daemon] not running\n" });
  expect(await out("start")).toBe(`[daemon] running (PID ${world.daemonPid})\n`);
  const first = world.daemonPid!;
  expect(await out("status")).toMatch(
    new RegExp(
      `^\\[daemon\\] running \\(PID ${first}\\) \\| version: \\d+\\.\\d+\\.\\d+ \\| processes: 0 \\| connections: 1 \\| uptime: \\d+\\.\\ds${RegExp.escape(statusEnd)}\\n$`,
    ),
  );
  expect(await out("restart")).toBe(`[daemon] stopped\n[daemon] running (PID ${world.daemonPid})\n`);
  expect(world.daemonPid).not.toBe(first);
  expect(await world.crux(["shutdown"])).toMatchObject({ code: 0, stdout: "[daemon] stopped\n" });
  expect(runtimeFiles()).toEqual([]);
});

it("a daemon that does not answer is told as such, is not doubled, and --force ends it", async () => {
  await world.crux(["ps"]);
  const pid = world.daemonPid!;
  process.kill(pid, "SIGSTOP");
  const { code, stderr } = await world.crux(["ps"]);
  expect(code).toBe(1);
  expect(stderr).toBe(
    `✗ [UNAVAILABLE] daemon (PID ${pid}) does not answer\n  → hint: crux daemon restart --force\n`,
  );
  expect(await daemons()).toEqual([pid]);
  expect(existsSync(world.socket)).toBe(true);
  expect((await world.crux(["daemon", "restart", "--force"])).code).toBe(0);
  expect(await daemons()).not.toEqual([pid]);
  expect((await world.crux(["ps"])).code).toBe(0);
});

it("the built program starts through a link, from any folder", async () => {
  const crux = fileURLToPath(new URL("../bin/crux", import.meta.url));
  const link = join(world.dir, "crux-link");
  symlinkSync(crux, link);
  const child = spawn(link, ["-q", "version"], {
    cwd: "/",
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [out] = (await once(child.stdout, "data")) as [Buffer];
  expect(String(out)).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await world.crux(["ps"], { cwd: "/" })).code).toBe(0);
});
