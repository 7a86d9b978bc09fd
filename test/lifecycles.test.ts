/** Each long-lived feature is begun and ended many times in one daemon: what it held is given back. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SIGNALS } from "../src/abi/process.ts";
import { modelEnv } from "./harness/model.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { text } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const CYCLES = Number(process.env.CRUX_LIFECYCLES ?? 40);
const AT_ONCE = 4;
/** Of what is left after a full collection. */
const MAX_GROWTH_MB = 4;
const SCRIPTED = fileURLToPath(new URL("../src/dev/mcp/testing/scripted-server.ts", import.meta.url));

let world: World;
let server: ModelServer;
let env: Record<string, string>;

beforeEach(async () => {
  world = new World();
  // a snapshot of the heap collects all that nobody holds
  world.env.NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${world.dir}`;
  server = await startModelServer({ script: [{ default: () => text("Done.") }], keepRequests: 1 });
  env = { PATH: world.env.PATH!, HOME: world.home, ...modelEnv(server, "anthropic") };
  expect((await world.crux(["ps"])).code).toBe(0);
});
afterEach(async () => {
  await server.close();
  await world.close();
});

/** Of a stream, its first answer. */
async function ask(method: string, payload: unknown): Promise<Record<string, unknown>> {
  await using wire = await Wire.open(world.socket);
  const reply = await wire.ask(method, payload);
  if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
  return reply.payload ?? {};
}

/** To its end. */
async function stream(method: string, payload: unknown): Promise<void> {
  await using wire = await Wire.open(world.socket);
  const reply = await wire.ask(method, payload);
  if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
  await wire.rest();
}

const SERVICES = {
  talker: { command: ["sh", "-c", "seq 2000; sleep 300"], restart: "permanent" },
  reader: { command: ["sh", "-c", "cat >/dev/null"] },
  clerk: { intent: "work", group: "clerks", replicas: 2, permission_mode: "bypass" },
  late: { intent: "wait", depends_on: { talker: { condition: "completed" } } },
};

/** Up, changed while it runs, looked at, and down again. */
async function project(n: number, lane: number): Promise<void> {
  const name = `p${lane}`;
  const up = (services: object, pipes: object[]) =>
    stream("compose.up", {
      file: { name, services, pipes },
      dir: world.work,
      env,
      detach: true,
      remove_orphans: true,
    });
  await up(SERVICES, [{ from: "talker", to: "reader" }]);
  await stream("compose.logs", { project: name, tail: 10 });
  const gone = await Wire.open(world.socket);
  await gone.ask("compose.logs", { project: name, tail: 10, follow: true });
  const { pid, services } = (await ask("compose.ps", { project: name })) as {
    pid: number;
    services: { pid: number | null }[];
  };
  await Promise.allSettled([
    ask("supervisor.restart_child", { pid, child: "talker-1" }),
    up(SERVICES, []),
    up({ ...SERVICES, [`extra-${n}`]: { command: ["sleep", "300"] } }, [{ from: "talker", to: "reader" }]),
    ask("process.signal", { pid: services[0]!.pid, signal: SIGNALS.SIGKILL }),
  ]);
  await gone.close();
  await ask("compose.down", { project: name, kill: n % 2 === 0 });
}

/** Mounted, and taken away whether it has connected or not. */
async function mount(n: number): Promise<void> {
  const path = `/mnt/mcp/m${n}`;
  const args = [SCRIPTED, ...[[], ["--mute"], ["--noisy"], ["--stubborn"]][n % 4]!, `--n${n % 2}`];
  await ask("mcp.mount", { path, config: { type: "stdio", command: process.execPath, args, env: {} } });
  await ask("mcp.list", {});
  await ask("mcp.unmount", { path });
}

/** An agent in a group that is followed by clients that go away. */
async function agent(n: number): Promise<void> {
  const group = `g${n % 3}`;
  const { pid } = await ask("spawn", {
    intent: "work",
    cwd: world.work,
    env,
    detach: true,
    permission_mode: "bypass",
    group,
  });
  const followers = await Promise.all(
    ["process.attach", "attach_debug", "process.logs", "process.wait"].map(async (method) => {
      const wire = await Wire.open(world.socket);
      wire.send(
        `${JSON.stringify({ method, payload: method === "process.logs" ? { pid, follow: true } : { pid } })}\n`,
      );
      return wire;
    }),
  );
  await Promise.allSettled([
    ask("process.signal", { pid, signal: SIGNALS.SIGPAUSE }),
    ask("mail.send", { pid, text: "and" }),
  ]);
  await Promise.all(followers.slice(0, 2 + (n % 3)).map((wire) => wire.close()));
  await Promise.allSettled([ask("process.signal", { pid, signal: SIGNALS.SIGRESUME })]);
  await ask("process.wait", { pid }).catch(() => {});
  await Promise.all(followers.map((wire) => wire.close()));
}

async function many(count: number): Promise<void> {
  let next = 0;
  const lane = async (_: unknown, at: number) => {
    while (next < count) {
      const n = next++;
      await Promise.all([project(n, at), mount(n), agent(n)]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

interface Holdings {
  readonly fds: number;
  readonly timers: number;
  readonly osChildren: number;
  readonly processes: number;
  readonly heapMb: number;
}

async function holdings(): Promise<Holdings> {
  const { timers, os_children, processes, heap_bytes } = await ask("kernel.metrics", {});
  return {
    fds: readdirSync(`/proc/${world.daemonPid}/fd`).length,
    timers: Number(timers),
    osChildren: Number(os_children),
    processes: Number(processes),
    heapMb: Number(heap_bytes) / 1024 ** 2,
  };
}

/** Bytes that somebody holds, in MB. */
async function heldMb(): Promise<number> {
  const snapshots = () => readdirSync(world.dir).filter((name) => name.endsWith(".heapsnapshot"));
  process.kill(world.daemonPid!, "SIGUSR2");
  await settled(snapshots, (found) => found.length > 0);
  // answered when the snapshot is written
  const { heapMb } = await holdings();
  for (const name of snapshots()) rmSync(join(world.dir, name));
  return heapMb;
}

it(`${CYCLES} lives of projects, mounts, groups and followers leave the daemon as it was`, {
  timeout: 180_000 + CYCLES * 3_000,
}, async () => {
  // caches, pools and compiled code come with the first of them, and so do as many ended projects as are remembered
  await many(40);
  const isQuiet = ({ processes }: Holdings) => processes === 0;
  const before = await settled(holdings, isQuiet);
  const heldBefore = await heldMb();
  await many(CYCLES);
  const isBack = (now: Holdings) => isQuiet(now) && now.fds <= before.fds && now.timers <= before.timers;
  const after = await settled(holdings, isBack);
  expect(after.processes).toBe(0);
  expect(after.osChildren).toBeLessThanOrEqual(before.osChildren);
  expect(after.fds).toBeLessThanOrEqual(before.fds);
  expect(after.timers).toBeLessThanOrEqual(before.timers);
  expect((await heldMb()) - heldBefore).toBeLessThan(MAX_GROWTH_MB);
  const spools = readdirSync(join(world.dir, "state/crux"), { recursive: true }).map(String);
  expect(spools.filter((name) => name.includes("pipe-"))).toEqual([]);
  expect(world.log()).not.toMatch(/ error /);
});
