/**
 * What a turn costs: a reply that asks for `bash` with `echo hi`, sandbox on, journal synced, over a bare loop that fetches and
 * spawns. Both on one model server, in processes of their own, interleaved in one run; a turn is from one request to the next.
 *   node bench/turn.ts            (npm run build first)
 *   node bench/turn.ts --stages   and where the time goes, by a build that notes it
 * Sizes: CRUX_BENCH_ROUNDS (7) of 50 turns, CRUX_BENCH_LONG (500) turns of one conversation.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SPANS, type Span } from "./doubles/timed-ports.ts";
import { BareProcess, bareProgram } from "./parts/bare-process.ts";
import { cpuMs, statusBytes } from "./parts/os-process.ts";
import { buildWith } from "./parts/other-build.ts";
import { ask, Place } from "./parts/place.ts";
import { stageRows } from "./parts/stages.ts";
import { type Exchange, TurnServer, turnTimes } from "./parts/turn-server.ts";
import { median, printTable, type Row } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 7);
const LONG = Number(process.env.CRUX_BENCH_LONG ?? 500);
const SHORT = 50;
/** The most that a turn is to take, over one of the bare loop. */
const AIM = 1.6;

const dir = mkdtempSync(join(tmpdir(), "crux-bench-turn-"));
const server = await TurnServer.start();
const bare = new BareProcess(bareProgram(dir));
try {
  printTable(["what", "figure", "baseline", "ratio", "aim"], await measured());
  if (process.argv.includes("--stages")) {
    console.log("");
    const columns = [`median ms of the first ${SHORT} turns`, `of ${SHORT} warm ones`, "of the turn"];
    printTable(["stage of a turn", ...columns], await stages());
  }
} finally {
  await bare.close();
  await server.http.close();
  rmSync(dir, { recursive: true, force: true });
}

async function measured(): Promise<readonly Row[]> {
  const place = new Place();
  try {
    const { wire } = await place.start();
    const first = turnTimes(await agent(place, SHORT));
    const firstPeak = statusBytes(place.daemonPid, "VmHWM");
    await bareTurns(SHORT);
    const before = [cpuMs(place.daemonPid), cpuMs(bare.pid)] as const;
    const [crux, floor]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      crux.push(...turnTimes(await agent(place, SHORT)));
      floor.push(...turnTimes(await bareTurns(SHORT)));
    }
    const count = ROUNDS * (SHORT + 1);
    const cpu = (cpuMs(place.daemonPid) - before[0]) / count;
    const bareCpu = (cpuMs(bare.pid) - before[1]) / count;
    const long = turnTimes(await agent(place, LONG)).slice(-SHORT);
    const longFloor = turnTimes(await bareTurns(LONG)).slice(-SHORT);
    const all = (ROUNDS + 1) * SHORT + LONG;
    await wire.close();
    const memory = place.residentBytes;
    const peak = statusBytes(place.daemonPid, "VmHWM");
    const again = await firstTurn(place);
    const warm = median(crux);
    return [
      row(`one turn of ${SHORT}`, warm, median(floor), `${AIM}x`),
      row(`one turn, ${LONG - SHORT + 1} to ${LONG}`, median(long), median(longFloor), `${AIM}x`),
      row(`CPU for one turn of ${SHORT}`, cpu, bareCpu, ""),
      row(`first ${SHORT} turns of a daemon`, median(first), warm, "1.2x", "warm"),
      [`peak memory over its first ${SHORT}`, megabytes(firstPeak), "", "", "200 MB"],
      [`memory after ${all} turns`, megabytes(memory), "", "", "120 MB"],
      [`peak memory over ${all} turns`, megabytes(peak), "", "", ""],
      row("first turn, with compiled code", again, first[0] ?? Number.NaN, "", "without"),
    ];
  } finally {
    await place.close();
  }
}

/** Of a daemon that finds what the one before it has kept. */
async function firstTurn(place: Place): Promise<number> {
  await place.stop();
  const { wire } = await place.start();
  const [first = Number.NaN] = turnTimes(await agent(place, 1));
  await wire.close();
  return first;
}

/** Of a daemon's first conversation and its fourth; below them what the aim leaves, by a bare loop beside it. */
async function stages(): Promise<readonly Row[]> {
  const place = new Place(await buildWith("boot/ports.ts", "timed-ports.ts", join(dir, "timed")));
  try {
    const { wire } = await place.start();
    const early = await agent(place, SHORT);
    for (let round = 0; round < 2; round++) await agent(place, SHORT);
    const exchanges = await agent(place, SHORT);
    const floor = median(turnTimes(await bareTurns(SHORT)));
    await wire.close();
    await place.stop();
    const spans = JSON.parse(readFileSync(join(place.state, SPANS), "utf8")) as Span[];
    const aimMs = AIM * floor;
    const over = median(turnTimes(exchanges)) - aimMs;
    return [
      ...stageRows(early, exchanges, spans),
      [`the bare loop beside it, and ${AIM}x of it`, "", `${floor.toFixed(2)}, ${aimMs.toFixed(2)}`, ""],
      ["what the turn takes over that", "", over.toFixed(2), ""],
    ];
  } finally {
    await place.close();
  }
}

function bareTurns(calls: number): Promise<readonly Exchange[]> {
  return server.conversation(calls, () => bare.run(server.http.anthropicBaseUrl, calls));
}

function agent(place: Place, calls: number): Promise<readonly Exchange[]> {
  return server.conversation(calls, async () => {
    const wire = await place.connect();
    const spawned = { intent: "run the shell", cwd: place.work, env: server.env(place.env), detach: true };
    const { pid } = await ask(wire, "spawn", { ...spawned, max_steps: calls + 2 });
    const { exit_code } = await ask(wire, "process.wait", { pid });
    await wire.close();
    if (exit_code !== 0) throw new Error(`the agent ended with ${String(exit_code)}`);
  });
}

function row(what: string, own: number, base: number, aim: string, of = "bare loop"): Row {
  return [what, `${own.toFixed(1)} ms`, `${base.toFixed(1)} ms ${of}`, `${(own / base).toFixed(2)}x`, aim];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
