/**
 * How soon a new agent is at work: from the client's write to its first request at the model server, alone and beside 64 agents
 * that run commands, and many started at once until the last is acknowledged. The baseline is a bare fetch to the same server:
 *   node bench/spawns.ts            (npm run build first)
 * Sizes: CRUX_BENCH_SPAWNS (500) alone, a fifth of it beside the active ones, CRUX_BENCH_ROUNDS (3) bursts of 200.
 */
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { ask, Place } from "./parts/place.ts";
import { median, percentile, printTable, type Row } from "./table.ts";

const SPAWNS = Number(process.env.CRUX_BENCH_SPAWNS ?? 500);
const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 3);
const WARM = 20;
const ACTIVE = 64;
const BURST = 200;

const seen = { atMs: 0, arrived: 0, isOver: false };
await using server = await startModelServer({
  script: ({ lastUserText, assistantTurns }) => {
    if (lastUserText.includes("busy") && !seen.isOver)
      return toolUse({ name: "bash", input: { command: "true" } });
    if (lastUserText.includes("hello")) seen.atMs = performance.now();
    if (assistantTurns === 0) seen.arrived++;
    return text("Done.");
  },
  keepRequests: 4,
  validate: false,
});
const place = new Place();
try {
  const { wire } = await place.start();
  const env = { ...place.env, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.anthropicBaseUrl };
  const payload = (intent: string) => ({ intent, cwd: place.work, env, detach: true, max_steps: 100_000 });

  /** Milliseconds to the first request, one after another. */
  const alone = async (count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const began = performance.now();
      const { pid } = await ask(wire, "spawn", payload("hello"));
      await ask(wire, "process.wait", { pid });
      times.push(seen.atMs - began);
    }
    return times;
  };
  const burst = async (): Promise<number> => {
    const began = performance.now();
    const request = `${JSON.stringify({ method: "spawn", payload: payload("many") })}\n`;
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
  };

  await alone(WARM);
  const first = await alone(SPAWNS);
  const fetched: number[] = [];
  for (let n = 0; n < SPAWNS / 5; n++) fetched.push(await bareFetch());
  const bursts: number[] = [];
  for (let n = 0; n < ROUNDS; n++) bursts.push(await burst());
  const active: unknown[] = [];
  for (let n = 0; n < ACTIVE; n++) active.push((await ask(wire, "spawn", payload("busy"))).pid);
  await alone(5);
  const beside = await alone(SPAWNS / 5);
  seen.isOver = true;
  for (const pid of active) await ask(wire, "process.wait", { pid });
  await wire.close();
  const row = (what: string, times: readonly number[], p: number, aim: string): Row => {
    const [own, base] = [percentile(times, p), percentile(fetched, p)];
    return [what, `${own.toFixed(1)} ms`, `${base.toFixed(1)} ms fetch`, `${(own / base).toFixed(1)}x`, aim];
  };
  const all = median(bursts);
  printTable(
    ["what", "figure", "baseline", "ratio", "aim"],
    [
      row("spawn to first request, p50", first, 50, "4 ms"),
      row("spawn to first request, p99", first, 99, "20 ms"),
      row(`the same beside ${ACTIVE} active agents, p50`, beside, 50, "25 ms"),
      row(`the same beside ${ACTIVE} active agents, p99`, beside, 99, ""),
      [
        `${BURST} at once, all acknowledged`,
        `${all.toFixed(0)} ms`,
        `${median(first).toFixed(1)} ms for one`,
        `${(all / median(first)).toFixed(0)}x`,
        "1,000 ms",
      ],
    ],
  );
} finally {
  await place.close();
}

async function bareFetch(): Promise<number> {
  const body = { model: "m", stream: true, max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
  const began = performance.now();
  const response = await fetch(`${server.anthropicBaseUrl}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  await response.text();
  return seen.atMs - began;
}
