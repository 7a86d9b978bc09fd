/**
 * Ten sessions of ten turns at once, over ten bare loops at once on the same Node and model server, in one run:
 *   node bench/fleet.ts            (npm run build first; CRUX_BENCH_ROUNDS rounds, 5)
 * Wall: `crux` ten times, with a daemon that runs, until the last has ended. Memory: the most that the ten clients and the daemon
 * have together, shared pages by their part, in a round of its own, since looking takes time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bareProgram } from "./parts/bare-process.ts";
import { proportionalBytes } from "./parts/os-process.ts";
import { NODE, Place } from "./parts/place.ts";
import { TurnServer } from "./parts/turn-server.ts";
import { median, printTable } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 5);
const SESSIONS = 10;
const TURNS = 10;
const LOOK_MS = 100;
const CRUX = fileURLToPath(new URL("../bin/crux", import.meta.url));

const dir = mkdtempSync(join(tmpdir(), "crux-bench-fleet-"));
const server = await TurnServer.start();
const place = new Place();
try {
  const { wire } = await place.start();
  const bare = [NODE, bareProgram(dir), server.http.anthropicBaseUrl, String(TURNS)];
  const crux = [CRUX, "run the shell", "-q"];
  await fleet(crux);
  await fleet(bare);
  const [own, base]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await timed(() => fleet(crux)));
    base.push(await timed(() => fleet(bare)));
  }
  const [ownMost, baseMost] = [await most(crux, [place.daemonPid]), await most(bare, [])];
  await wire.close();
  const ratio = (a: number, b: number): string => `${(a / b).toFixed(2)}x`;
  const [ms, bareMs] = [median(own), median(base)];
  const what = `${SESSIONS} sessions of ${TURNS} turns`;
  printTable(
    ["what", "figure", "bare loops", "ratio", "aim"],
    [
      [`${what}, wall`, `${ms.toFixed(0)} ms`, `${bareMs.toFixed(0)} ms`, ratio(ms, bareMs), "1.2x"],
      ["memory (PSS), daemon included", mb(ownMost), mb(baseMost), ratio(ownMost, baseMost), "1.0x"],
    ],
  );
} finally {
  await place.close();
  await server.http.close();
  rmSync(dir, { recursive: true, force: true });
}

async function fleet(
  argv: readonly string[],
  onStart: (pids: readonly number[]) => void = () => {},
): Promise<void> {
  await server.conversations(SESSIONS, TURNS, async () => {
    const [program = "", ...args] = argv;
    const children = Array.from({ length: SESSIONS }, () =>
      spawn(program, args, { cwd: place.work, env: server.env(place.env), stdio: "ignore" }),
    );
    onStart(children.map(({ pid }) => pid ?? 0));
    const ends = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
    if (ends.some((code) => code !== 0)) throw new Error(`${program} ended with ${ends.join(", ")}`);
  });
}

/** The most bytes that the processes of a fleet have together with the others. */
async function most(argv: readonly string[], others: readonly number[]): Promise<number> {
  let bytes = 0;
  let look: NodeJS.Timeout | undefined;
  await fleet(argv, (pids) => {
    const sum = (): number => [...pids, ...others].reduce((total, pid) => total + proportionalBytes(pid), 0);
    look = setInterval(() => (bytes = Math.max(bytes, sum())), LOOK_MS);
  });
  clearInterval(look);
  return bytes;
}

async function timed(act: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
