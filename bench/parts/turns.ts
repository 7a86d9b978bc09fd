/** An agent that makes shell calls, with the journal and with one in memory: what the journal adds to a turn. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Wire } from "../../test/harness/wire.ts";
import { text, toolUse } from "../../test/model-server/reply.ts";
import { type ModelServer, startModelServer } from "../../test/model-server/server.ts";
import { COUNTED, type Counted } from "../doubles/counted-journal.ts";
import { median, type Row } from "../table.ts";
import { buildWith } from "./other-build.ts";
import { ask, Place } from "./place.ts";

const CALLS = 50;
const TURNS = CALLS + 1;
const JOURNAL = "store/sqlite/open-journal.ts";

/** `rounds` runs of each, one after the other; the first is not counted. */
export async function turns(rounds: number): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "crux-bench-builds-"));
  await using server = await startModelServer({
    script: ({ assistantTurns }) =>
      assistantTurns < CALLS ? toolUse({ name: "bash", input: { command: "true" } }) : text("Done."),
    keepRequests: 4,
    validate: false,
  });
  const memory = await buildWith(JOURNAL, "memory-journal.ts", join(dir, "memory"));
  const counted = await buildWith(JOURNAL, "counted-journal.ts", join(dir, "counted"));
  const places = [new Place(), new Place(memory)] as const;
  try {
    return [await gap(server, places, rounds), ...(await written(server, counted))];
  } finally {
    for (const place of places) await place.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function gap(server: ModelServer, places: readonly [Place, Place], rounds: number): Promise<Row> {
  const wires = [(await places[0].start()).wire, (await places[1].start()).wire] as const;
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++)
    for (const n of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = await run(server, places[n], wires[n]);
      if (round > 0) times[n].push(ms);
    }
  for (const wire of wires) await wire.close();
  const [own, base] = [median(times[0]) / TURNS, median(times[1]) / TURNS];
  const ratio = `${(own / base).toFixed(2)}x`;
  return [
    `one turn, at ${CALLS} shell calls`,
    ms(own),
    `${ms(base)} with a journal in memory`,
    ratio,
    "1.10",
  ];
}

async function run(server: ModelServer, place: Place, wire: Wire): Promise<number> {
  const env = { ...place.env, OPENAI_API_KEY: "bench", OPENAI_BASE_URL: server.openaiBaseUrl };
  const spawned = { intent: "run the shell", cwd: place.work, env, detach: true, permission_mode: "bypass" };
  const began = performance.now();
  const { pid } = await ask(wire, "spawn", spawned);
  const { exit_code } = await ask(wire, "process.wait", { pid });
  if (exit_code !== 0) throw new Error(`the agent ended with ${String(exit_code)}`);
  return performance.now() - began;
}

/** One run alone in its daemon, from its opening to its end. */
async function written(server: ModelServer, dist: string): Promise<readonly Row[]> {
  const place = new Place(dist);
  try {
    const { wire } = await place.start();
    await run(server, place, wire);
    await wire.close();
    await place.stop();
    const told = readFileSync(join(place.state, "journal", COUNTED), "utf8");
    const { groups, records, bytes } = JSON.parse(told) as Counted;
    const total = Object.values(bytes).reduce((sum, own) => sum + own, 0);
    const per = (count: number): string => (count / TURNS).toFixed(1);
    const most = Object.entries(bytes).sort(([, a], [, b]) => b - a);
    const kinds = most.slice(0, 4).map(([kind, own]) => `${kind} ${(own / TURNS).toFixed(0)}`);
    return [
      ["synced groups of a turn", per(groups), `${per(records)} records`, "", "4"],
      ["bytes of bodies of a turn", (total / TURNS).toFixed(0), kinds.join(", "), "", ""],
    ];
  } finally {
    await place.close();
  }
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}
