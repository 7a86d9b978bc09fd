/**
 * What readers that stall cost the others, in one run (npm run build first):
 *   node bench/ipc-load.ts
 * 200 connections, each with a program that prints at full speed, half of them lossless; every connection also asks for pings,
 * one after another. The baseline is the same load without the 10 readers that stop reading. Exits with 1 if those who read
 * take more than `SLOWER` times as long beside them, if a lossless reader misses a byte, if a lossy one is not told of each that it
 * missed, or if the daemon grows by more than `GROWTH_BYTES`.
 */
import { join } from "node:path";
import { type Loaded, runLoad } from "../test/harness/ipc-load.ts";
import { Place } from "./parts/place.ts";
import { median, percentile, printTable, type Row } from "./table.ts";

const CONNECTIONS = Number(process.env.CRUX_BENCH_CONNECTIONS ?? 200);
const STALLED = Number(process.env.CRUX_BENCH_STALLED ?? 10);
const BYTES = Number(process.env.CRUX_BENCH_LOAD_MB ?? 4) * 1024 * 1024;
const SLOWER = 1.5;
/** In turn, of which the fastest counts: this machine has other work too. Losses and memory count in each. */
const ROUNDS = 3;
/** Of the 800 MiB that pass through it in each round. */
const GROWTH_BYTES = 192 * 1024 * 1024;

interface Run extends Loaded {
  /** Bytes by which the daemon grew. */
  readonly grown: number;
}

const place = new Place();
const faults: string[] = [];
try {
  await place.start();
  const socket = join(place.dir, "run/crux/crux.sock");
  let runs = 0;
  const run = async (stalled: number): Promise<Run> => {
    const idle = place.residentBytes;
    let grown = 0;
    const name = `load${++runs}`;
    const loaded = await runLoad({ socket, name, connections: CONNECTIONS, stalled, bytes: BYTES }, () => {
      grown = place.residentBytes - idle;
    });
    faults.push(...lost(loaded));
    return { ...loaded, grown };
  };
  await run(0);
  const rounds: { readonly alone: Run; readonly beside: Run }[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push({ alone: await run(0), beside: await run(STALLED) });
  const alone = fastest(rounds.map((round) => round.alone));
  const beside = fastest(rounds.map((round) => round.beside));
  const most = Math.max(...rounds.map((round) => round.beside.grown));
  const rows: Row[] = [
    row("output read by those who read, MB a second", rate(alone), rate(beside)),
    row("ping of those who read, median ms", median(alone.pingsMs), median(beside.pingsMs)),
    row("ping of those who read, 99th ms", percentile(alone.pingsMs, 99), percentile(beside.pingsMs, 99)),
    row("the daemon grew by, MB", Math.max(...rounds.map((round) => round.alone.grown)) / 1e6, most / 1e6),
  ];
  printTable(["what", `${STALLED} stalled`, "none stalled", "ratio"], rows);
  const slower = rate(alone) / rate(beside);
  if (slower > SLOWER)
    faults.push(`those who read are slower by ${slower.toFixed(2)}x, more than ${SLOWER}x`);
  if (most > GROWTH_BYTES) faults.push(`the daemon grew by ${most} bytes, more than ${GROWTH_BYTES}`);
} finally {
  await place.close();
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

function row(what: string, alone: number, beside: number): Row {
  return [what, beside.toFixed(1), alone.toFixed(1), `${(beside / alone).toFixed(2)}x`];
}

function fastest(runs: readonly Run[]): Run {
  return runs.reduce((best, each) => (rate(each) > rate(best) ? each : best));
}

/** MB a second that those got who read. */
function rate({ followed, ms }: Loaded): number {
  const got = followed.reduce((sum, { got: bytes, isStalled }) => sum + (isStalled ? 0 : bytes), 0);
  return got / 1e3 / ms;
}

function lost({ followed }: Loaded): string[] {
  return followed.flatMap(({ isLossy, got, missed, printed, dropped }, n) => {
    const isRight = got + missed === BYTES && printed === BYTES && missed <= dropped;
    if (isRight && (isLossy || missed + dropped === 0)) return [];
    return [`connection ${n}: ${got} bytes read, ${missed} missed, ${dropped} dropped of ${printed}`];
  });
}
