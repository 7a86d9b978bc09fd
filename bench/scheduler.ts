/**
 * Fifty agents on one account whose server enforces a rate, beside fifty loops that each try again by themselves, in one run:
 *   node bench/scheduler.ts            (npm run build first; CRUX_BENCH_WINDOW_MS of each measurement, 15000)
 * Goodput: accepted requests, by what the rate allows. Jain: how equal the shares of the agents are; 1: all the same. An attached
 * run: how long after its first step its request arrives, beyond what that takes without others, in slots (the time from one
 * accepted request to the next).
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Wire } from "../test/harness/wire.ts";
import { LimitedServer } from "./parts/limited-server.ts";
import { ask, Place } from "./parts/place.ts";
import { median, printTable } from "./table.ts";

const AGENTS = 50;
const PER_SECOND = 20;
const WARM_MS = 3_000;
const WINDOW_MS = Number(process.env.CRUX_BENCH_WINDOW_MS ?? 15_000);
const ATTACHED = 5;
/** How vendors' SDKs try again, where the server names no time. */
const FIRST_BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 8_000;

interface Measured {
  readonly goodput: number;
  readonly jain: number;
  /** Refused requests for each accepted one. */
  readonly refusals: number;
}

const server = await LimitedServer.start(PER_SECOND);
const place = new Place();
try {
  const { wire } = await place.start();
  server.begin();
  const alone = await attachedRuns("a");
  let beside: readonly number[] = [];
  const own = await measured(
    () => agents(wire),
    async () => {
      beside = await attachedRuns("i");
    },
  );
  const naive = await measured(() => Promise.resolve(loops()));
  const slots = beside.map((ms) => Math.max(0, ((ms - median(alone)) * PER_SECOND) / 1_000));
  const share = (value: number): string => value.toFixed(3);
  printTable(
    ["what", "Crux", "each by itself", "aim"],
    [
      ["goodput, by the limit", share(own.goodput), share(naive.goodput), "0.95"],
      [`Jain's index of ${AGENTS} equals`, share(own.jain), share(naive.jain), "0.98"],
      ["refused for each accepted", share(own.refusals), share(naive.refusals), ""],
      ["slots that an attached run waits, median", median(slots).toFixed(1), "", "1"],
      ["the same, most", Math.max(...slots).toFixed(1), "", ""],
      ["slots that an agent waits for its turn", String(AGENTS), "", ""],
    ],
  );
  await wire.close();
} finally {
  await place.close();
  await server.http.close();
}

/** `start` returns how to wait for the end of all. */
async function measured(
  start: () => Promise<() => Promise<unknown>>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Measured> {
  server.begin();
  const over = await start();
  await sleep(WARM_MS);
  const [from, refusedBefore] = [performance.now(), server.refused];
  const beside = meanwhile();
  await sleep(WINDOW_MS);
  const to = performance.now();
  const refused = server.refused - refusedBefore;
  const within = (times: readonly number[]): number =>
    times.filter((time) => time >= from && time < to).length;
  const counts = [...server.accepted]
    .filter(([name]) => /^agent-\d/.test(name))
    .map(([, times]) => within(times));
  const all = [...server.accepted.values()].reduce((sum, times) => sum + within(times), 0);
  server.finish();
  await beside;
  await over();
  return {
    goodput: all / ((PER_SECOND * (to - from)) / 1_000),
    jain: jainOf(counts),
    refusals: refused / all,
  };
}

function jainOf(counts: readonly number[]): number {
  const sum = counts.reduce((total, each) => total + each, 0);
  return sum ** 2 / (AGENTS * counts.reduce((total, each) => total + each ** 2, 0));
}

function request(intent: string): Record<string, unknown> {
  const env = { ...place.env, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.http.anthropicBaseUrl };
  return { intent, cwd: place.work, env, max_steps: 100_000, permission_mode: "bypass" };
}

async function agents(wire: Wire): Promise<() => Promise<unknown>> {
  const pids: unknown[] = [];
  for (let each = 0; each < AGENTS; each++) {
    const { pid } = await ask(wire, "spawn", { ...request(`agent-${each}`), detach: true });
    pids.push(pid);
  }
  return async () => {
    for (const pid of pids) await ask(wire, "process.wait", { pid });
  };
}

/** Runs with a user attached, one after another: milliseconds from the step to the arrival of its request. */
async function attachedRuns(mark: string): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let each = 0; each < ATTACHED; each++) {
    const wire = await place.connect();
    const name = `agent-${mark}${each}`;
    // proves that it is the user
    await ask(wire, "ping", {});
    wire.send(`${JSON.stringify({ method: "spawn", payload: { ...request(name), interactive: true } })}\n`);
    let steppedAt = 0;
    for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
      if (line.payload?.event === "step") steppedAt = performance.now();
      if (line.type === "complete") break;
      if (line.ok === false) throw new Error(JSON.stringify(line));
    }
    const [arrivedAt = 0] = server.accepted.get(name) ?? [];
    waits.push(arrivedAt - steppedAt);
    await wire.close();
  }
  return waits;
}

/** Fifty loops without a common queue: each waits as the server says, else twice as long as the last time. */
function loops(): () => Promise<unknown> {
  const all = Array.from({ length: AGENTS }, (_, each) => loop(`agent-${each}`));
  return () => Promise.all(all);
}

async function loop(name: string): Promise<void> {
  const body = { model: "sonnet", max_tokens: 100, messages: [{ role: "user", content: name }] };
  const post = { method: "POST", headers: { "content-type": "application/json", "x-api-key": "bench" } };
  for (let failures = 0; ; ) {
    const answer = await fetch(`${server.http.anthropicBaseUrl}/v1/messages`, {
      ...post,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (text.includes("Done.")) return;
    failures = answer.ok ? 0 : failures + 1;
    if (answer.ok) continue;
    const namedMs = Number(answer.headers.get("retry-after")) * 1_000;
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MOST_BACKOFF_MS);
    await sleep(namedMs || backoffMs);
  }
}
