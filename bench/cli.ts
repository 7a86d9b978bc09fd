/**
 * What Crux costs a person, against stated baselines, all in one run:
 *   node bench/cli.ts            (npm run build first)
 * Start-up: whole commands against a bare `node -e 0`, interleaved, medians. Turns: an agent that makes 50 shell calls
 * through a running daemon, against a bare loop that only fetches and spawns, on the same loopback model server.
 */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { World } from "../test/harness/world.ts";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { bareLoop } from "./bare-loop.ts";
import { median, printTable, type Row } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 15);
const SHELL_CALLS = 50;
const node = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

const world = new World();
await using server = await startModelServer({
  script: (request) =>
    request.lastUserText.includes("shell") ? shellTurn(request.assistantTurns) : text("Done."),
  keepRequests: 4,
});
const rows: Row[] = [];
try {
  await startUp();
  await oneIntent();
  await turns();
} finally {
  await world.close();
}
printTable(["what", "median ms", "baseline ms", "ratio", "aim"], rows);

function shellTurn(done: number) {
  return done < SHELL_CALLS ? toolUse({ name: "bash", input: { command: "true" } }) : text("Done.");
}

/** Wall time of a whole process, in milliseconds. */
function timed(argv: readonly string[], env: Record<string, string> = {}): number {
  const began = performance.now();
  const [program = "", ...args] = argv;
  const { status, stderr } = spawnSync(program, args, {
    cwd: world.work,
    env: { ...world.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${argv.join(" ")}: exit ${status}\n${stderr}`);
  return performance.now() - began;
}

async function startUp(): Promise<void> {
  const crux = fileURLToPath(new URL("../bin/crux", import.meta.url));
  await world.crux(["daemon", "start"]);
  const [bare, version, ps]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS + 2; round++) {
    bare.push(timed([node, "-e", "0"]));
    version.push(timed([crux, "version"]));
    ps.push(timed([crux, "ps"]));
  }
  // The first two rounds fill the compile cache and the page cache.
  for (const list of [bare, version, ps]) list.splice(0, 2);
  add("crux version", median(version), median(bare), "1.3x node -e 0");
  add("crux ps (daemon running)", median(ps), median(bare), "1.3x node -e 0");
}

function modelEnv(): Record<string, string> {
  return { OPENAI_API_KEY: "bench", OPENAI_BASE_URL: server.openaiBaseUrl };
}

/** The model server lives in this process, so the command must not block it. */
async function intent(words: string): Promise<number> {
  const began = performance.now();
  const run = await world.crux([words, "--permission-mode", "bypass", "-q"], {
    env: modelEnv(),
    timeoutMs: 120_000,
  });
  if (run.code !== 0) throw new Error(`exit ${run.code}: ${run.stdout}${run.stderr}`);
  return performance.now() - began;
}

async function oneIntent(): Promise<void> {
  await intent("hello");
  server.use(() => text("Done."));
  const times: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.push(await intent("hello"));
    bare.push(await bareProcess());
  }
  const body = server.requests.at(-1)?.rawBody ?? "";
  add("an intent without a tool call", median(times), median(bare), "– (baseline: node -e fetch)");
  rows.push(["first request, bytes", String(Buffer.byteLength(body)), "8000", "", "at most 8000"]);
}

/** A bare node process that makes the one request. */
function bareProcess(): Promise<number> {
  const body = JSON.stringify({
    model: "m",
    stream: true,
    max_tokens: 100,
    messages: [{ role: "user", content: "hello" }],
  });
  const code = `const r = await fetch(${JSON.stringify(`${server.openaiBaseUrl}/chat/completions`)}, {method:"POST",headers:{"content-type":"application/json",authorization:"Bearer bench"},body:${JSON.stringify(body)}}); await r.text()`;
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(node, ["--input-type=module", "-e", code], { stdio: "ignore", env: world.env });
    child.on("error", reject);
    child.on("exit", (status) => {
      if (status === 0) resolve(performance.now() - began);
      else reject(new Error(`bare process: exit ${status}`));
    });
  });
}

async function turns(): Promise<void> {
  server.use((request) => shellTurn(request.assistantTurns));
  const crux: number[] = [];
  const bare: number[] = [];
  const overhead = await emptyIntent();
  for (let round = 0; round < Math.max(3, Math.floor(ROUNDS / 3)); round++) {
    crux.push((await intent("run the shell")) - overhead);
    bare.push(await bareLoop(server.openaiBaseUrl, SHELL_CALLS));
  }
  const perTurn = (list: number[]): number => median(list) / (SHELL_CALLS + 1);
  add(`one turn, at ${SHELL_CALLS} shell calls`, perTurn(crux), perTurn(bare), "1.3x fetch + spawn");
  const gap = perTurn(crux) - perTurn(bare);
  rows.push(["gap per turn", gap.toFixed(2), "", "", ""]);
}

/** Start of the command and of the process, which the turns do not pay. */
async function emptyIntent(): Promise<number> {
  server.use(() => text("Done."));
  const times: number[] = [];
  for (let round = 0; round < 5; round++) times.push(await intent("hello"));
  server.use((request) => shellTurn(request.assistantTurns));
  return median(times);
}

function add(what: string, ms: number, baselineMs: number, aim: string): void {
  rows.push([what, ms.toFixed(1), baselineMs.toFixed(1), `${(ms / baselineMs).toFixed(2)}x`, aim]);
}
