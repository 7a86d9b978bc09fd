/**
 * Loaded into a daemon before all else (`node --require`), to see how long rounds of its event loop take. On a machine with other work
 * the clock also counts the time in which the thread did not run, so its processor time stands beside it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** A round that is shorter is not looked at. */
const TICK_MS = 5;

export interface Round {
  /** When it had ended, in ms of the epoch. */
  readonly at: number;
  readonly ms: number;
  readonly cpuMs: number;
}

const { CRUX_BENCH_ROUNDS: path } = process.env;
if (path !== undefined && isMainThread) watch(path);

/** The rounds of a daemon that has ended. */
export function roundsIn(file: string): readonly Round[] {
  return JSON.parse(readFileSync(file, "utf8"));
}

function watch(file: string): void {
  const rounds: Round[] = [];
  let [before, cpuBefore] = [performance.now(), cpuMs()];
  const look = (): void => {
    const [now, cpu] = [performance.now(), cpuMs()];
    if (now - before > 3 * TICK_MS) rounds.push({ at: Date.now(), ms: now - before, cpuMs: cpu - cpuBefore });
    [before, cpuBefore] = [now, cpu];
  };
  setInterval(look, TICK_MS).unref();
  process.on("exit", () => writeFileSync(file, JSON.stringify(rounds)));
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
