/**
 * How soon a new agent is at work: from the client's write to its first request at the model server, alone and beside 64 agents
 * that run commands, and many started at once until the last is acknowledged. The baseline is a bare fetch to the same server:
 *   node bench/spawns.ts            (npm run build first)
 * Below it where the time of a start goes, by a build that notes it.
 * Sizes: CRUX_BENCH_SPAWNS (500) alone, a fifth of it beside the active ones, CRUX_BENCH_ROUNDS (3) bursts of 200.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Wire } from "../test/harness/wire.ts";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { MARKS, type Marks } from "./doubles/marked-ports.ts";
import { buildWith } from "./parts/other-build.ts";
import { ask, Place } from "./parts/place.ts";
import { type Start, spawnStages, wholeMs } from "./parts/spawn-stages.ts";
import { median, percentile, printTable, type Row } from "./table.ts";

const SPAWNS = Number(process.env.CRUX_BENCH_SPAWNS ?? 500);
const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 3);
const WARM = 20;
const ACTIVE = 64;
const BURST = 200;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const seen = { atMs: 0, arrived: 0, isOver: false };
await using server = await startModelServer({
  script: ({ lastUserText, assistantTurns }) => {
    if (lastUserText.includes("busy") && !seen.isOver)
      return toolUse({ name: "bash", input: { command: "true" } });
    if (lastUserText.includes("hello")) seen.atMs = now();
    if (assistantTurns === 0) seen.arrived++;
    return text("Done.");
  },
  keepRequests: 4,
  validate: false,
});
const dir = mkdtempSync(join(tmpdir(), "crux-bench-spawns-"));
try {
  printTable(["what", "figure", "baseline", "ratio", "aim"], await measured());
  console.log("");
  printTable(["stage of a start, ms", "alone", `beside ${ACTIVE}`], await stages());
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function measured(): Promise<readonly Row[]> {
  const place = new Place();
  try {
    const { wire } = await place.start();
    await alone(place, wire, WARM);
    const first = (await alone(place, wire, SPAWNS)).map(wholeMs);
    const fetched: number[] = [];
    for (let n = 0; n < SPAWNS / 5; n++) fetched.push(await bareFetch());
    const bursts: number[] = [];
    for (let n = 0; n < ROUNDS; n++) bursts.push(await burst(place, wire));
    const crowded = (await beside(place, wire)).map(wholeMs);
    await wire.close();
    const row = (what: string, times: readonly number[], p: number, aim: string): Row => {
      const [own, base] = [percentile(times, p), percentile(fetched, p)];
      return [
        what,
        `${own.toFixed(1)} ms`,
        `${base.toFixed(1)} ms fetch`,
        `${(own / base).toFixed(1)}x`,
        aim,
      ];
    };
    const [all, one] = [median(bursts), median(first)];
    const ratio = `${(all / one).toFixed(0)}x`;
    return [
      row("spawn to first request, p50", first, 50, "4 ms"),
      row("spawn to first request, p99", first, 99, "20 ms"),
      row(`the same beside ${ACTIVE} active agents, p50`, crowded, 50, "25 ms"),
      row(`the same beside ${ACTIVE} active agents, p99`, crowded, 99, ""),
      [
        `${BURST} at once, all acknowledged`,
        `${all.toFixed(0)} ms`,
        `${one.toFixed(1)} ms for one`,
        ratio,
        "1,000 ms",
      ],
    ];
  } finally {
    await place.close();
  }
}

/** The same starts with a build that notes how far each has come. */
async function stages(): Promise<readonly Row[]> {
  const place = new Place(await buildWith("boot/ports.ts", "marked-ports.ts", dir));
  try {
    const { wire } = await place.start();
    await alone(place, wire, WARM);
    const lists = [await alone(place, wire, SPAWNS / 5), await beside(place, wire)];
    await wire.close();
    await place.stop();
    const marks = JSON.parse(readFileSync(join(place.state, MARKS), "utf8")) as Record<number, Marks>;
    return spawnStages(lists, marks);
  } finally {
    await place.close();
  }
}

function payload(place: Place, intent: string): Record<string, unknown> {
  const env = { ...place.env, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.anthropicBaseUrl };
  return { intent, cwd: place.work, env, detach: true, max_steps: 100_000 };
}

/** To the first request, one after another. */
async function alone(place: Place, wire: Wire, count: number): Promise<readonly Start[]> {
  const starts: Start[] = [];
  for (let n = 0; n < count; n++) {
    const asked = now();
    const { pid } = await ask(wire, "spawn", payload(place, "hello"));
    await ask(wire, "process.wait", { pid });
    starts.push({ pid: pid as number, asked, arrived: seen.atMs });
  }
  return starts;
}

/** The same while others run one command after another. */
async function beside(place: Place, wire: Wire): Promise<readonly Start[]> {
  seen.isOver = false;
  const active: unknown[] = [];
  for (let n = 0; n < ACTIVE; n++) active.push((await ask(wire, "spawn", payload(place, "busy"))).pid);
  await alone(place, wire, 5);
  const starts = await alone(place, wire, SPAWNS / 5);
  seen.isOver = true;
  for (const pid of active) await ask(wire, "process.wait", { pid });
  return starts;
}

/** Until the last of many is acknowledged. */
async function burst(place: Place, wire: Wire): Promise<number> {
  const began = performance.now();
  const request = `${JSON.stringify({ method: "spawn", payload: payload(place, "many") })}\n`;
  const pids: unknown[] = [];
  for (let n = 0; n < BURST; n++) wire.send(request);
  for (let n = 0; n < BURST; n++) {
    const reply = await wire.next();
    if (reply?.ok !== true) throw new Error(JSON.stringify(reply));
    pids.push(reply.payload?.pid);
  }
  const ms = performance.now() - began;
  for (const pid of pids) await ask(wire, "process.wait", { pid });
  return ms;
}

async function bareFetch(): Promise<number> {
  const body = { model: "m", stream: true, max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
  const began = now();
  const response = await fetch(`${server.anthropicBaseUrl}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  await response.text();
  return seen.atMs - began;
}
