/**
 * What processes cost in a running daemon, against stated baselines, all in one run:
 *   node bench/processes.ts            (npm run build first)
 * Sizes come from the environment: CRUX_BENCH_SPAWNS (1000), CRUX_BENCH_IDLE (100,1000,4000,10000), CRUX_BENCH_ENDED (10000),
 * CRUX_BENCH_BUSY (1000).
 * Memory is the daemon's resident set, read from /proc after it has come to rest.
 */
import { readFileSync } from "node:fs";
import { Wire } from "../test/harness/wire.ts";
import { settled, World } from "../test/harness/world.ts";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { bareLoop } from "./bare-loop.ts";
import { addedRows, listStages, partsOf } from "./parts/idle-stages.ts";
import { Insight } from "./parts/insight.ts";
import type { MemoryPart } from "./parts/mapped-memory.ts";
import { median, percentile, printTable, type Row } from "./table.ts";

const SPAWNS = Number(process.env.CRUX_BENCH_SPAWNS ?? 1_000);
const IDLE = (process.env.CRUX_BENCH_IDLE ?? "100,1000,4000,10000").split(",").map(Number);
const ENDED = Number(process.env.CRUX_BENCH_ENDED ?? 10_000);
const BUSY = Number(process.env.CRUX_BENCH_BUSY ?? 1_000);
/** Spawns under way on the one connection. */
const WINDOW = 64;
/** Agents that wait for their reply together: a lane begins with as many slots, and learns of no more before an answer. */
const HELD = 8;
/** Processes of a page. */
const PAGE = 500;
const TRACED_CALLS = 50;
const TRACED_ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 10);
/** Long enough for idle connections to close and the heap to shrink. */
const REST_MS = 10_000;

const world = new World();
const arrived = { atMs: 0 };
/** Agents that are to be idle: their first reply waits until all of a window are paused. */
const held = { arrived: 0, release: Promise.withResolvers<void>() };
await using server = await startModelServer({
  script: (request) => {
    arrived.atMs = performance.now();
    if (request.lastUserText.includes("idle")) {
      held.arrived++;
      return toolUse({ name: "ls", input: { path: "." } }).until(held.release.promise);
    }
    return request.lastUserText.includes("shell") ? shellTurn(request.assistantTurns, 2) : text("Done.");
  },
  keepRequests: 4,
  validate: false,
});
const rows: Row[] = [];
const stages = { memory: [] as readonly Row[], list: [] as readonly Row[] };
const insight = new Insight(world.dir);
try {
  await world.crux(["daemon", "start"]);
  await firstRequest();
  await restart(insight.env);
  await idle();
  await restart();
  await ended();
  await restart();
  await busy();
  await restart();
  await traced();
} finally {
  await world.close();
}
printTable(["what", "figure", "baseline", "ratio", "aim"], rows);
console.log("");
printTable(["KB of an idle agent", ...IDLE.map((count) => `at ${count}`)], stages.memory);
console.log("");
printTable([`list_procs, all of ${IDLE.at(-1)}`, "ms", "of it"], stages.list);

function shellTurn(done: number, calls: number) {
  return done < calls ? toolUse({ name: "bash", input: { command: "true" } }) : text("Done.");
}

async function restart(env: Record<string, string> = {}): Promise<void> {
  await world.crux(["daemon", "stop"], { timeoutMs: 60_000 });
  await world.crux(["daemon", "start"], { env });
}

function modelEnv(): Record<string, string> {
  return { ...world.env, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.anthropicBaseUrl };
}

async function ask(wire: Wire, method: string, payload: unknown): Promise<Record<string, unknown>> {
  const reply = await wire.ask(method, payload);
  if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
  return reply.payload ?? {};
}

function detached(intent: string, env: Record<string, string>): Record<string, unknown> {
  return { intent, cwd: world.work, env, detach: true, permission_mode: "bypass" };
}

/** From the client's write to the request at the model's door; the baseline is a bare fetch to the same door. */
async function firstRequest(): Promise<void> {
  const wire = await Wire.open(world.socket);
  const [crux, bare]: [number[], number[]] = [[], []];
  for (let n = 0; n < SPAWNS + 20; n++) {
    const began = performance.now();
    arrived.atMs = 0;
    const { pid } = await ask(wire, "spawn", detached("hello", modelEnv()));
    await ask(wire, "process.wait", { pid });
    if (n >= 20) crux.push(arrived.atMs - began);
    if (n % 10 === 0) bare.push(await bareFetch());
  }
  wire.socket.destroy();
  for (const p of [50, 99]) {
    const [own, base] = [percentile(crux, p), percentile(bare, p)];
    const aim = p === 50 ? "5 ms" : "20 ms";
    add(
      `spawn to first request, p${p} of ${SPAWNS}`,
      `${own.toFixed(1)} ms`,
      `${base.toFixed(1)} ms fetch`,
      own / base,
      aim,
    );
  }
}

async function bareFetch(): Promise<number> {
  const began = performance.now();
  arrived.atMs = 0;
  const body = { model: "m", stream: true, max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
  const response = await fetch(`${server.anthropicBaseUrl}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  await response.text();
  return arrived.atMs - began;
}

/** Agents that are paused in the middle of their work, a reply in hand, added step by step. */
async function idle(): Promise<void> {
  const wire = await Wire.open(world.socket);
  const emptyPs = await psMs(0);
  for (let n = 0; n < 3; n++) await idleAgents(wire, HELD);
  const base = await restingBytes();
  const parts = await partsOf(world.daemonPid ?? 0, insight);
  const looks: [number, readonly MemoryPart[]][] = [];
  let count = 0;
  for (const goal of IDLE) {
    for (; count < goal; count += Math.min(HELD, goal - count))
      await idleAgents(wire, Math.min(HELD, goal - count));
    const bytes = await restingBytes();
    looks.push([goal, await partsOf(world.daemonPid ?? 0, insight)]);
    const each = (bytes - base) / goal / 1024;
    rows.push([`memory of an idle agent, at ${goal}`, `${each.toFixed(1)} KB`, "", "", "20 KB"]);
    const [all, empty] = [`${(bytes / 1e6).toFixed(0)} MB`, `${(base / 1e6).toFixed(0)} MB with ${3 * HELD}`];
    rows.push([`daemon in all, at ${goal}`, all, empty, (bytes / base).toFixed(2), "500 MB at 10,000"]);
    const list = await medianOf(() => ask(wire, "list_procs", {}));
    const page = await medianOf(() => ask(wire, "list_procs", { cursor: 0, limit: PAGE }));
    const aim = "5 ms at 4,000";
    rows.push([`a page of ${PAGE} of list_procs, at ${goal}`, `${page.toFixed(1)} ms`, "", "", aim]);
    rows.push([
      `list_procs in one answer, at ${goal}`,
      `${list.toFixed(1)} ms`,
      "a page",
      (list / page).toFixed(2),
      aim,
    ]);
  }
  Object.assign(stages, { memory: addedRows(parts, looks), list: await listStages(wire, insight) });
  const ps = await psMs(count);
  // paused agents would rest over the restart, and be there again
  await endAll(wire);
  wire.socket.destroy();
  add(
    `crux ps, at ${count}`,
    `${ps.toFixed(0)} ms`,
    `${emptyPs.toFixed(0)} ms at none`,
    ps / emptyPs,
    "100 ms",
  );
}

/** Agents whose end was read: as many before the first look as bring the daemon to its usual size. */
async function ended(): Promise<void> {
  const wire = await Wire.open(world.socket);
  const request = `${JSON.stringify({ method: "spawn", payload: detached("hello", modelEnv()) })}\n`;
  const end = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= WINDOW) {
      const window = Math.min(WINDOW, left);
      for (let n = 0; n < window; n++) wire.send(request);
      const pids: unknown[] = [];
      for (let n = 0; n < window; n++) pids.push((await wire.next())?.payload?.pid);
      for (const pid of pids) await ask(wire, "process.wait", { pid });
    }
  };
  await end(Math.ceil(ENDED / 5));
  const base = await restingBytes();
  await end(ENDED);
  const bytes = await restingBytes();
  wire.socket.destroy();
  const each = (bytes - base) / ENDED / 1024;
  const [all, before] = [`${(bytes / 1e6).toFixed(0)} MB`, `${(base / 1e6).toFixed(0)} MB`];
  rows.push([`memory of an ended agent, over ${ENDED}`, `${each.toFixed(2)} KB`, "", "", "1 KB"]);
  rows.push([`daemon after ${ENDED} ended agents`, all, `${before} before`, "", ""]);
}

async function endAll(wire: Wire): Promise<void> {
  const { processes } = await ask(wire, "list_procs", {});
  const pids = (processes as { pid: number }[]).map(({ pid }) => pid);
  for (const pid of pids) await ask(wire, "kill", { pid, signal: 2 });
  for (const pid of pids) await ask(wire, "process.wait", { pid });
}

async function idleAgents(wire: Wire, count: number): Promise<void> {
  held.arrived = 0;
  held.release = Promise.withResolvers();
  const request = `${JSON.stringify({ method: "spawn", payload: detached("idle", modelEnv()) })}\n`;
  for (let n = 0; n < count; n++) wire.send(request);
  const pids: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const reply = await wire.next();
    if (reply?.ok !== true) throw new Error(JSON.stringify(reply));
    pids.push(reply.payload?.pid);
  }
  await settled(
    () => held.arrived,
    (arrivals) => arrivals >= count,
    30_000,
  );
  for (const pid of pids) await ask(wire, "kill", { pid, signal: 4 });
  held.release.resolve();
}

function psMs(least: number): Promise<number> {
  return medianOf(async () => {
    const { stdout, code } = await world.crux(["ps"], { timeoutMs: 60_000 });
    if (code !== 0 || stdout.split("\n").length < least)
      throw new Error(`ps: ${code} ${stdout.slice(0, 200)}`);
  });
}

async function medianOf(act: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 5; n++) times.push(await timed(act));
  return median(times);
}

async function restingBytes(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const status = readFileSync(`/proc/${world.daemonPid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** All at once, two shell calls each; the baseline is as many bare loops in one process. */
async function busy(): Promise<void> {
  const wire = await Wire.open(world.socket);
  const crux = await timed(async () => {
    const pids: unknown[] = [];
    const request = `${JSON.stringify({ method: "spawn", payload: detached("run the shell", modelEnv()) })}\n`;
    for (let n = 0; n < BUSY; n++) wire.send(request);
    for (let n = 0; n < BUSY; n++) pids.push((await wire.next())?.payload?.pid);
    let failed = 0;
    for (const pid of pids) if ((await ask(wire, "process.wait", { pid })).exit_code !== 0) failed++;
    if (failed > 0) throw new Error(`${failed} of ${BUSY} agents failed`);
  });
  wire.socket.destroy();
  const bare = await timed(() =>
    Promise.all(Array.from({ length: BUSY }, () => bareLoop(server.anthropicBaseUrl, 2))),
  );
  add(
    `${BUSY} agents at once, all finish`,
    `${(crux / 1000).toFixed(1)} s`,
    `${(bare / 1000).toFixed(1)} s bare loops`,
    crux / bare,
    "",
  );
}

/** The same run with somebody who watches every call, and without: interleaved, from the first reply to the end. */
async function traced(): Promise<void> {
  const begin = { gate: Promise.withResolvers<void>() };
  server.use((request) => {
    const turn = shellTurn(request.assistantTurns, TRACED_CALLS);
    return request.assistantTurns === 0 ? turn.until(begin.gate.promise) : turn;
  });
  const [plain, watched]: [number[], number[]] = [[], []];
  const wire = await Wire.open(world.socket);
  for (let round = 0; round < TRACED_ROUNDS; round++) {
    for (const list of round % 2 === 0 ? [plain, watched] : [watched, plain]) {
      begin.gate = Promise.withResolvers();
      const { pid } = await ask(wire, "spawn", detached("run the shell", modelEnv()));
      const trace =
        list === watched ? world.start(["astrace", String(pid)], { timeoutMs: 120_000 }) : undefined;
      await trace?.seen("attached");
      const ms = await timed(async () => {
        begin.gate.resolve();
        await ask(wire, "process.wait", { pid });
      });
      await trace?.done;
      if (round > 0) list.push(ms);
    }
  }
  wire.socket.destroy();
  const [own, base] = [median(watched), median(plain)];
  const what = `run of ${TRACED_CALLS} calls with astrace attached`;
  add(what, `${own.toFixed(0)} ms`, `${base.toFixed(0)} ms without`, own / base, "1.03");
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

function add(what: string, figure: string, baseline: string, ratio: number, aim: string): void {
  rows.push([what, figure, baseline, `${ratio.toFixed(2)}x`, aim]);
}
