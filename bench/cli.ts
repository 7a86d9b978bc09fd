/**
 * What Crux costs a person, against stated baselines, all in one run:
 *   node bench/cli.ts            (npm run build first)
 * Whole commands against a bare `node -e 0`, and one intent against a bare process that makes its request: interleaved, medians.
 */
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { spawn as spawnPty } from "@lydell/node-pty";
import { Wire } from "../test/harness/wire.ts";
import { CRUX, World } from "../test/harness/world.ts";
import { text } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { median, printTable, type Row } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 15);
const node = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

const world = new World();
await using server = await startModelServer({
  script: () => text("Done."),
  keepRequests: 4,
});
const rows: Row[] = [];
try {
  await startUp();
  await coldStart();
  await firstFrame();
  await oneIntent();
} finally {
  await world.close();
}
printTable(["what", "median ms", "baseline ms", "ratio", "aim"], rows);

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
  const [bare, entry, version]: [number[], number[], number[]] = [[], [], []];
  const [ps, answer]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + 2; round++) {
    bare.push(timed([node, "-e", "0"]));
    entry.push(timed([crux, "version", "-q"]));
    version.push(timed([crux, "version"]));
    ps.push(timed([crux, "ps"]));
    answer.push(await listed());
  }
  // The first two rounds fill the compile cache and the page cache.
  for (const list of [bare, entry, version, ps, answer]) list.splice(0, 2);
  add("crux version", median(version), median(bare), "1.2x node -e 0");
  add("crux ps (daemon running)", median(ps), median(bare), "1.35x node -e 0");
  const [loaded, told] = [median(entry), median(answer)];
  add("  of both: bin/crux, Node and the entry", loaded, median(bare), "");
  add("  of ps: the daemon connects and answers", told, median(bare), "");
  add("  of ps: its file, the table, the exit", median(ps) - loaded - told, median(bare), "");
}

/** What `ps` asks, from a process that runs. */
async function listed(): Promise<number> {
  const began = performance.now();
  await using wire = await Wire.open(world.socket);
  if ((await wire.ask("list_procs", {}))?.ok !== true) throw new Error("list_procs");
  return performance.now() - began;
}

/** The first command of a day: it starts the daemon too. */
async function coldStart(): Promise<void> {
  const crux = fileURLToPath(new URL("../bin/crux", import.meta.url));
  const [bare, cold]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await world.crux(["daemon", "stop"]);
    bare.push(timed([node, "-e", "0"]));
    cold.push(timed([crux, "ps"]));
  }
  add("crux ps (no daemon)", median(cold), median(bare), "");
}

/** From the start of the command until its editor is on the screen of a terminal. */
async function firstFrame(): Promise<void> {
  const [bare, frame]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + 2; round++) {
    bare.push(timed([node, "-e", "0"]));
    frame.push(await untilEditor());
  }
  for (const list of [bare, frame]) list.splice(0, 2);
  add("crux at a terminal, first frame", median(frame), median(bare), "3x node -e 0");
}

function untilEditor(): Promise<number> {
  const began = performance.now();
  const env = { ...world.env, ...modelEnv() };
  const pty = spawnPty(CRUX, [], { cols: 80, rows: 24, cwd: world.work, env, name: "xterm-256color" });
  return new Promise((resolve, reject) => {
    let [bytes, ms] = ["", Number.NaN];
    pty.onData((data) => {
      bytes += data;
      if (!Number.isNaN(ms) || !bytes.includes("›")) return;
      ms = performance.now() - began;
      pty.kill("SIGTERM");
    });
    pty.onExit(() => (Number.isNaN(ms) ? reject(new Error(`no frame: ${bytes}`)) : resolve(ms)));
  });
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
  const times: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.push(await intent("hello"));
    bare.push(await bareProcess());
  }
  const body = server.requests.at(-1)?.rawBody ?? "";
  add("an intent without a tool call", median(times), median(bare), "– (baseline: node -e fetch)");
  // the list of skills counts beside it
  const list = /Skills, each with instructions[\s\S]*?(?=<\/system-reminder>)/.exec(body)?.[0] ?? "";
  const bytes = Buffer.byteLength(body) - Buffer.byteLength(list);
  rows.push(["first request, bytes", String(bytes), "9000", "", "at most 9000"]);
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

function add(what: string, ms: number, baselineMs: number, aim: string): void {
  rows.push([what, ms.toFixed(1), baselineMs.toFixed(1), `${(ms / baselineMs).toFixed(2)}x`, aim]);
}
