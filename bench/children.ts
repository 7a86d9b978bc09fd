/**
 * Agents that agents start, in a running daemon, all in one run:
 *   node bench/children.ts            (npm run build first)
 * First children one after another: from the reply that starts one to its first request, over the same from a client's spawn. Then
 * CRUX_BENCH_CHILDREN (1000) in the background of one agent, of which 64 run at once: each must have ended and been told of. Memory
 * is the most that the daemon has had; of the rounds of its event loop while they work, the longest. Sizes: CRUX_BENCH_SPAWNS (100)
 * for the first.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { roundsIn } from "./parts/held-loop.ts";
import { statusBytes } from "./parts/os-process.ts";
import { ask, Place } from "./parts/place.ts";
import { percentile, printTable } from "./table.ts";

const SPAWNS = Number(process.env.CRUX_BENCH_SPAWNS ?? 100);
const CHILDREN = Number(process.env.CRUX_BENCH_CHILDREN ?? 1_000);
const AT_ONCE = 64;
/** Calls of one reply. */
const CALLS = 50;
/** How long a child works: long enough for others to wait. */
const WORK_MS = 2_000;

const call = (prompt: string, more: object = {}) =>
  toolUse({ name: "agent", input: { description: prompt, prompt, ...more } });
const began: number[] = [];
const arrived: number[] = [];
const ran = new Map<string, number>();
const told = new Set<string>();
let [running, most, asked] = [0, 0, 0];

await using server = await startModelServer({
  script: async (request) => {
    const task = request.lastUserText;
    if (/^child \d+/.test(task)) {
      if (task.startsWith("child 1 ")) arrived.push(performance.now());
      return text("Done.");
    }
    if (/^one \d+/.test(task)) {
      ran.set(task, (ran.get(task) ?? 0) + 1);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      running--;
      return text("Done.");
    }
    const first = JSON.stringify(request.messages[0]);
    for (const [, id = ""] of JSON.stringify(request.messages.slice(-2)).matchAll(/task-id>(agent-\w+)/g))
      told.add(id);
    if (first.includes("many") || asked > 0) return many();
    if (!first.includes("in turn") || began.length >= SPAWNS) return text("Done.");
    began.push(performance.now());
    return call(`child 1 of ${began.length}`);
  },
  keepRequests: 4,
  validate: false,
});

function many() {
  const from = asked;
  asked = Math.min(CHILDREN, from + CALLS);
  if (from >= CHILDREN) return text("All are at work.");
  const [first, ...others] = Array.from({ length: asked - from }, (_, n) =>
    call(`one ${from + n}`, { run_in_background: true }),
  );
  return (first ?? text("")).and(...others);
}

const place = new Place();
try {
  const limits = {
    children: AT_ONCE,
    tree: AT_ONCE,
    queue: CHILDREN,
    spawnsPerMinute: 100_000,
    spawnsPerDay: 100_000,
  };
  mkdirSync(join(place.dir, "config/crux"), { recursive: true });
  writeFileSync(join(place.dir, "config/crux/settings.json"), JSON.stringify({ agents: { limits } }));
  const rounds = join(place.dir, "rounds.json");
  const preload = fileURLToPath(new URL("./parts/held-loop.ts", import.meta.url));
  Object.assign(place.env, { NODE_OPTIONS: `--require ${preload}`, CRUX_BENCH_ROUNDS: rounds });
  const { wire } = await place.start();
  const env = { ...place.env, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: server.anthropicBaseUrl };
  const start = async (intent: string) => {
    const payload = {
      intent,
      cwd: place.work,
      env,
      detach: true,
      max_steps: 100_000,
      permission_mode: "bypass",
    };
    const { pid } = await ask(wire, "spawn", payload);
    return ask(wire, "process.wait", { pid });
  };
  const top: number[] = [];
  for (let n = 0; n < SPAWNS; n++) {
    const at = performance.now();
    await start(`child 1 alone ${n}`);
    top.push((arrived.at(-1) ?? 0) - at);
  }
  arrived.length = 0;
  await start("in turn");
  const below = began.map((at, n) => (arrived[n] ?? Number.NaN) - at);

  const [at, from] = [performance.now(), Date.now()];
  await start("many");
  const ms = performance.now() - at;
  const rss = statusBytes(place.daemonPid, "VmHWM");
  await wire.close();
  await place.stop();
  const held = roundsIn(rounds).filter((round) => round.at > from);
  const longest = (of: "ms" | "cpuMs") => `${Math.max(0, ...held.map((round) => round[of])).toFixed(0)} ms`;
  const once = [...ran.values()].filter((times) => times === 1).length;
  const [own, base] = [percentile(below, 50), percentile(top, 50)];
  printTable(
    ["what", "figure", "baseline", "ratio", "aim"],
    [
      [
        "child to its first request, p50",
        `${own.toFixed(1)} ms`,
        `${base.toFixed(1)} ms top level`,
        `${(own / base).toFixed(2)}x`,
        "1.5x",
      ],
      [`${CHILDREN} children, ${most} at once`, `${(ms / 1_000).toFixed(1)} s`, "", "", `${AT_ONCE} at once`],
      ["of these ran once, told of", `${once}, ${told.size}`, "", "", `${CHILDREN}, ${CHILDREN}`],
      ["memory of the daemon, at most", `${(rss / 1e6).toFixed(0)} MB`, "", "", "250 MB"],
      [
        "the loop was held, of processor time",
        longest("cpuMs"),
        `${longest("ms")} by the clock`,
        "",
        "50 ms",
      ],
    ],
  );
} finally {
  await place.close();
}
