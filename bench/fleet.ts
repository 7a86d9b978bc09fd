/**
 * Ten sessions of ten turns at once, over ten bare loops at once on the same Node and model server, in one run:
 *   node bench/fleet.ts            (npm run build first; CRUX_BENCH_ROUNDS rounds, 5)
 * Wall: `crux` ten times, with a daemon that runs, until the last has ended. Memory: the most that the ten clients and the daemon
 * have together, shared pages by their part, in a round of its own, since looking takes time.
 * Below it what the time and the memory are made of.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bareProgram } from "./parts/bare-process.ts";
import { childrenMs, cpuMs, proportionalBytes } from "./parts/os-process.ts";
import { NODE, Place } from "./parts/place.ts";
import { type Exchange, monotonicMs, TurnServer } from "./parts/turn-server.ts";
import { median, printTable, type Row } from "./table.ts";

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
  const [own, base]: [Times[], Times[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await timed(() => fleet(crux)));
    base.push(await timed(() => fleet(bare)));
  }
  const [ownMost, baseMost] = [await most(crux, [place.daemonPid]), await most(bare, [])];
  await wire.close();
  const ratio = (a: number, b: number): string => `${(a / b).toFixed(2)}x`;
  const [ms, bareMs] = [medianOf(own, "wall"), medianOf(base, "wall")];
  const what = `${SESSIONS} sessions of ${TURNS} turns`;
  printTable(
    ["what", "figure", "bare loops", "ratio", "aim"],
    [
      [`${what}, wall`, `${ms.toFixed(0)} ms`, `${bareMs.toFixed(0)} ms`, ratio(ms, bareMs), "1.2x"],
      [
        "memory (PSS), daemon included",
        mb(ownMost.all),
        mb(baseMost.all),
        ratio(ownMost.all, baseMost.all),
        "1.0x",
      ],
    ],
  );
  console.log("");
  printTable(["stage", "Crux", "bare loops"], [...timeRows(own, base), ...memoryRows(ownMost, baseMost)]);
} finally {
  await place.close();
  await server.http.close();
  rmSync(dir, { recursive: true, force: true });
}

async function fleet(
  argv: readonly string[],
  onStart: (pids: readonly number[]) => void = () => {},
): Promise<readonly Exchange[]> {
  return server.conversations(SESSIONS, TURNS, async () => {
    const [program = "", ...args] = argv;
    const children = Array.from({ length: SESSIONS }, () =>
      spawn(program, args, { cwd: place.work, env: server.env(place.env), stdio: "ignore" }),
    );
    onStart(children.map(({ pid }) => pid ?? 0));
    const ends = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
    if (ends.some((code) => code !== 0)) throw new Error(`${program} ended with ${ends.join(", ")}`);
  });
}

interface Most {
  readonly all: number;
  /** Of it, that of the others. */
  readonly others: number;
}

/** The most bytes that the processes of a fleet have together with the others. */
async function most(argv: readonly string[], others: readonly number[]): Promise<Most> {
  let found: Most = { all: 0, others: 0 };
  let look: NodeJS.Timeout | undefined;
  const sum = (pids: readonly number[]): number =>
    pids.reduce((total, pid) => total + proportionalBytes(pid), 0);
  await fleet(argv, (pids) => {
    look = setInterval(() => {
      const [own, more] = [sum(pids), sum(others)];
      if (own + more > found.all) found = { all: own + more, others: more };
    }, LOOK_MS);
  });
  clearInterval(look);
  return found;
}

/** Milliseconds; the first three are the wall. */
interface Times {
  readonly wall: number;
  /** Until the first request of the fleet, until its last answer, until its last process has ended. */
  readonly start: number;
  readonly turns: number;
  readonly end: number;
  /** Processor time of the processes of the fleet and what they waited for, of the daemon, of what it has started. */
  readonly clients: number;
  readonly daemon: number;
  readonly commands: number;
}

async function timed(act: () => Promise<readonly Exchange[]>): Promise<Times> {
  const before = [childrenMs(process.pid), cpuMs(place.daemonPid), childrenMs(place.daemonPid)];
  const began = monotonicMs();
  const exchanges = await act();
  const ended = monotonicMs();
  const first = Math.min(...exchanges.map(({ arrived }) => arrived));
  const last = Math.max(...exchanges.map(({ answered }) => answered));
  const after = [childrenMs(process.pid), cpuMs(place.daemonPid), childrenMs(place.daemonPid)];
  const [clients = 0, daemon = 0, commands = 0] = after.map((ms, at) => ms - (before[at] ?? 0));
  const parts = { start: first - began, turns: last - first, end: ended - last };
  return { wall: ended - began, ...parts, clients, daemon, commands };
}

function timeRows(own: readonly Times[], base: readonly Times[]): readonly Row[] {
  const row = (what: string, of: keyof Times): Row => [
    what,
    ...[own, base].map((times) => `${medianOf(times, of).toFixed(0)} ms`),
  ];
  return [
    row("wall: until the first request", "start"),
    row("wall: the turns, until the last answer", "turns"),
    row("wall: until the last process has ended", "end"),
    row("processor: the ten processes, and their commands", "clients"),
    row("processor: the daemon", "daemon"),
    row("processor: its sandboxes and commands", "commands"),
  ];
}

function memoryRows(own: Most, base: Most): readonly Row[] {
  return [
    ["memory: the ten processes", mb(own.all - own.others), mb(base.all)],
    ["memory: the daemon", mb(own.others), ""],
  ];
}

function medianOf(times: readonly Times[], of: keyof Times): number {
  return median(times.map((each) => each[of]));
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
