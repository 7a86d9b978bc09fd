/**
 * How long anything outlives a daemon that is killed with `kill -9`: 50 natives that ignore signals, half of which have
 * started others in sessions of their own, and 5 MCP servers.
 *   node bench/ownership.ts            (npm run build first; CRUX_BENCH_ROUNDS rounds, 5)
 * And what it costs to start a program in a way that makes it so, against the same program started bare.
 */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostProcesses } from "../src/dev/host/exec.ts";
import { isolationsHere } from "../src/dev/host/testing.ts";
import { startStubborn } from "../test/harness/stubborn.ts";
import { settled, World } from "../test/harness/world.ts";
import { median, printTable, type Row } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 5);
const STARTS = 200;
/** As much memory as a daemon has: what is forked is part of what a start costs. */
const RSS_BYTES = 120e6;

const ends: { readonly ms: number; readonly processes: number }[] = [];
for (let round = 0; round < ROUNDS; round++) ends.push(await endOfDaemon());
const times = ends.map(({ ms }) => ms);
printTable(
  ["kill -9 of the daemon", "OS processes", "median ms", "slowest ms", "aim"],
  [
    [
      "until all are gone",
      String(ends[0]?.processes ?? 0),
      median(times).toFixed(0),
      Math.max(...times).toFixed(0),
      "1000 ms",
    ],
  ],
);
console.log("");
await starts();

async function endOfDaemon(): Promise<{ ms: number; processes: number }> {
  const world = new World();
  try {
    await world.crux(["daemon", "start"]);
    const { left } = await startStubborn(world);
    const processes = left().length;
    const began = performance.now();
    process.kill(world.daemonPid ?? 0, "SIGKILL");
    const rest = await settled(left, (pids) => pids.length === 0, 10_000);
    if (rest.length > 0) throw new Error(`still there after 10 s: ${rest.join(" ")}`);
    const ms = performance.now() - began;
    await world.crux(["ps"]);
    return { ms, processes };
  } finally {
    await world.close();
  }
}

async function starts(): Promise<void> {
  const ballast = Buffer.alloc(Math.max(0, RSS_BYTES - process.memoryUsage.rss()), 1);
  const hosts: HostProcesses[] = [];
  const ways = isolationsHere().map((isolation) => {
    const pipesDir = join(tmpdir(), `crux-bench-${process.pid}-${isolation.ownership}`);
    const exec = new HostProcesses({ kernelId: "bench", epoch: 1, pipesDir, isolation: () => isolation });
    hosts.push(exec);
    const ofCommand = (isMerged: boolean) => () => run(exec, isMerged);
    return [
      [`${isolation.ownership}`, ofCommand(false)],
      [`${isolation.ownership}, stderr merged`, ofCommand(true)],
    ] as const;
  });
  const all = [["bare spawn", bare] as const, ...ways.flat()];
  const taken = new Map<string, number[]>(all.map(([name]) => [name, []]));
  for (let n = 0; n < STARTS; n++)
    for (const [name, start] of all) {
      const began = performance.now();
      await start();
      taken.get(name)?.push(performance.now() - began);
    }
  const baseline = median(taken.get("bare spawn") ?? []);
  const rows = [...taken].map(([name, list]): Row => {
    const ms = median(list);
    return [name, ms.toFixed(2), (ms - baseline).toFixed(2), `${(ms / baseline).toFixed(2)}x`];
  });
  const rss = Math.round(process.memoryUsage.rss() / 1e6);
  printTable([`/bin/true, median of ${STARTS}, from ${rss} MB`, "ms", "more", "ratio"], rows);
  ballast.fill(0);
  await Promise.all(hosts.map((exec) => exec.close()));
}

function bare(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/true", [], { stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

async function run(exec: HostProcesses, isMerged: boolean): Promise<void> {
  const spec = { argv: ["/bin/true"], cwd: "/", env: {}, owner: "bench", isMerged, onOutput: () => {} };
  const { code } = await exec.run(spec, new AbortController().signal).exited;
  if (code !== 0) throw new Error(`true ended with ${code}`);
}
