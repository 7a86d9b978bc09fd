/**
 * What a reply costs that takes its time to come:
 *   node bench/stream.ts          (npm run build first)
 * A call that is whole while its stream pauses for 2 s: how long after its block the tool has acted (a file is written, its
 * record synced). And a reply of one character for each delta, 5,000 and 50,000 of them: ten times as long is linear.
 * Sizes: CRUX_BENCH_ROUNDS (15).
 */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { text, toolUse } from "../test/model-server/reply.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { ask, Place } from "./parts/place.ts";
import { median, percentile, printTable, type Row } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 15);
const PAUSE_MS = 2_000;
const SHORT = 5_000;
const LONG = 50_000;

const place = new Place();
const file = join(place.work, "acted");
/** Epoch ms of the last request, and the reply that it gets. */
let askedAt = 0;
let reply = text("");
const server = await startModelServer({
  script: (request) => {
    if (request.assistantTurns > 0) return text("done");
    askedAt = performance.timeOrigin + performance.now();
    return reply;
  },
});
try {
  const { wire } = await place.start();
  const env = {
    ...place.env,
    ANTHROPIC_API_KEY: "test-key-0123456789",
    ANTHROPIC_BASE_URL: server.anthropicBaseUrl,
  };
  const run = async (): Promise<number> => {
    const spawned = await ask(wire, "spawn", {
      intent: "go",
      cwd: place.work,
      env,
      permission_mode: "bypass",
      detach: true,
    });
    await ask(wire, "process.wait", { pid: spawned.pid });
    return performance.timeOrigin + performance.now() - askedAt;
  };
  const acted: number[] = [];
  reply = toolUse({ name: "write", input: { file_path: file, content: "x" } }).delay(PAUSE_MS, {
    afterBlocks: 1,
  });
  for (let round = 0; round <= ROUNDS; round++) {
    rmSync(file, { force: true });
    await run();
    // the first one loads what the others find loaded
    if (round > 0) acted.push(statSync(file).mtimeMs - askedAt);
  }
  const streamed = async (deltas: number): Promise<number> => {
    reply = text("x".repeat(deltas)).fragment(1);
    const took: number[] = [];
    for (let round = 0; round < 3; round++) took.push(await run());
    return median(took);
  };
  await streamed(SHORT);
  const [short, long] = [await streamed(SHORT), await streamed(LONG)];
  const rows: Row[] = [
    ["a call acts, after its request, median", `${median(acted).toFixed(1)} ms`, "", "50 ms"],
    ["a call acts, after its request, p95", `${percentile(acted, 95).toFixed(1)} ms`, "", "50 ms"],
    [`a run of ${SHORT} deltas`, `${short.toFixed(0)} ms`, "", ""],
    [`a run of ${LONG} deltas`, `${long.toFixed(0)} ms`, `${(long / short).toFixed(1)}x`, "12x"],
  ];
  printTable(["what", "figure", "ratio", "aim"], rows);
  await wire.close();
} finally {
  await place.close();
  await server.close();
}
