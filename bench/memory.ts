/**
 * What the memory of a daemon is made of, at its start, after its first fifty turns and after five hundred: a reply that asks for
 * `bash` with `echo hi` each time, sandbox on, journal synced. Beside it the bare loop after as many, in one run:
 *   node bench/memory.ts            (npm run build first; CRUX_BENCH_TURNS turns, 500)
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BareProcess, bareProgram } from "./parts/bare-process.ts";
import { Insight } from "./parts/insight.ts";
import { type MemoryPart, mappedOf, memoryParts, withinParts } from "./parts/mapped-memory.ts";
import { statusBytes } from "./parts/os-process.ts";
import { ask, Place } from "./parts/place.ts";
import { TurnServer } from "./parts/turn-server.ts";
import { printTable, type Row } from "./table.ts";

const TURNS = Number(process.env.CRUX_BENCH_TURNS ?? 500);
/** Of one conversation. */
const SHORT = 50;
/** As turn.ts looks: right after the last turn. */
const AIM_BYTES = 120e6;
const PEAK_BYTES = 200e6;

interface Look {
  readonly parts: readonly MemoryPart[];
  readonly within: readonly MemoryPart[];
}

const dir = mkdtempSync(join(tmpdir(), "crux-bench-memory-"));
const server = await TurnServer.start();
const bare = new BareProcess(bareProgram(dir));
const insight = new Insight(dir);
const place = new Place();
try {
  Object.assign(place.env, insight.env);
  const { wire } = await place.start();
  const looks = [await look()];
  await agent();
  const peak = statusBytes(place.daemonPid, "VmHWM");
  looks.push(await look());
  for (let done = SHORT; done < TURNS; done += SHORT) await agent();
  looks.push(await look());
  const resident = place.residentBytes;
  await wire.close();
  await server.conversation(TURNS, () => bare.run(server.http.anthropicBaseUrl, TURNS));
  const base = statusBytes(bare.pid, "VmRSS");
  printTable(
    ["what", "figure", "baseline", "ratio", "aim"],
    [
      [
        `daemon after ${TURNS} turns`,
        megabytes(resident),
        `${megabytes(base)} bare loop`,
        `${(resident / base).toFixed(2)}x`,
        megabytes(AIM_BYTES),
      ],
      [`peak over its first ${SHORT}`, megabytes(peak), "", "", megabytes(PEAK_BYTES)],
      [`peak over ${TURNS} turns`, megabytes(statusBytes(place.daemonPid, "VmHWM")), "", "", ""],
    ],
  );
  console.log("");
  printTable(["MB of memory", "at its start", `after ${SHORT} turns`, `after ${TURNS}`], table(looks));
} finally {
  await place.close();
  await bare.close();
  await server.http.close();
  rmSync(dir, { recursive: true, force: true });
}

async function agent(): Promise<void> {
  await server.conversation(SHORT, async () => {
    const wire = await place.connect();
    const spawned = { intent: "run the shell", cwd: place.work, env: server.env(place.env), detach: true };
    const { pid } = await ask(wire, "spawn", { ...spawned, max_steps: SHORT + 2 });
    await ask(wire, "process.wait", { pid });
    await wire.close();
  });
}

async function look(): Promise<Look> {
  const inside = await insight.memory();
  return { parts: memoryParts(mappedOf(place.daemonPid), inside), within: withinParts(inside) };
}

function table(looks: readonly Look[]): readonly Row[] {
  const rows = (of: (look: Look) => readonly MemoryPart[]): Row[] =>
    of(looks[0] as Look).map(([words], at) => [
      words,
      ...looks.map((each) => tenths(of(each)[at]?.[1] ?? 0)),
    ]);
  const all = looks.map(({ parts }) => tenths(parts.reduce((sum, [, bytes]) => sum + bytes, 0)));
  return [...rows(({ parts }) => parts), ["all of them: resident", ...all], ...rows(({ within }) => within)];
}

function tenths(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
