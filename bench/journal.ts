/**
 * What the journal costs, in one run:
 *   node bench/journal.ts            (npm run build first)
 * Events: records of a usual size through the journal port, one after another and in groups of what is in flight at once,
 * against a bare append and fdatasync of the same bytes, grouped alike. Turns: an agent that makes 50 shell calls, with the
 * journal and with one in memory in its place (a build of its own), interleaved. Opening: a session with a long history in a
 * daemon that has just been started, and every hash of it; a start with many paused agents, one of which goes on.
 * Below it where the time of a synced event goes.
 * Sizes: CRUX_BENCH_EVENTS (200000), CRUX_BENCH_ROUNDS (15), CRUX_BENCH_HISTORY (1000000), CRUX_BENCH_BOOT (10000).
 */
import { events, stagesOfEvents } from "./parts/events.ts";
import { crowdedBoot, longSession } from "./parts/opening.ts";
import { turns } from "./parts/turns.ts";
import { printTable, type Row } from "./table.ts";

const size = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const count = size("CRUX_BENCH_EVENTS", 200_000);
const rows: readonly Row[] = [
  ...(await events(count)),
  ...(await turns(size("CRUX_BENCH_ROUNDS", 15))),
  ...(await longSession(size("CRUX_BENCH_HISTORY", 1_000_000))),
  ...(await crowdedBoot(size("CRUX_BENCH_BOOT", 10_000))),
];
printTable(["what", "figure", "baseline", "ratio", "aim"], rows);
console.log("");
printTable(["stage of an event, 2,000 in flight", "microseconds", "of it"], await stagesOfEvents(count));
