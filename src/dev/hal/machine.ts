/** What the machine has and uses: processor, memory, battery, disk. Read at most once a second. */
import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { type CpuInfo, cpus, freemem, loadavg, totalmem } from "node:os";
import type { DaemonFigures, MachineMetrics, SystemMetrics } from "../../abi/methods/ipc/kernel.ts";
import type { Clock } from "../../abi/program.ts";

const NO_FIGURES: DaemonFigures = { uptimeMs: 0, loopLagMs: 0, processes: 0, connections: 0 };
const FRESH_MS = 1_000;
const POWER = "/sys/class/power_supply";

export class Machine {
  readonly #clock: Pick<Clock, "now" | "mono">;
  readonly #path: string;
  #cpus: readonly CpuInfo[] = [];
  #read: { readonly metrics: MachineMetrics; readonly mono: number } | undefined;

  /** `path`: the file system whose space is shown. */
  constructor(clock: Pick<Clock, "now" | "mono">, path: string) {
    this.#clock = clock;
    this.#path = path;
  }

  read(): MachineMetrics {
    const mono = this.#clock.mono();
    if (this.#read !== undefined && mono - this.#read.mono < FRESH_MS) return this.#read.metrics;
    const metrics = {
      at: this.#clock.now(),
      cpu: this.#usage(),
      memory: memory(),
      battery: battery(POWER),
      disk: disk(this.#path),
    };
    this.#read = { metrics, mono };
    return metrics;
  }

  /** What the daemon knows of itself; absent: nothing yet. */
  figures: (() => DaemonFigures) | undefined;

  /** The machine, and what the daemon uses of it. */
  system(): SystemMetrics {
    const { rss, heapUsed } = process.memoryUsage();
    const { uptimeMs, ...own } = this.figures?.() ?? NO_FIGURES;
    return { ...this.read(), uptimeMs, kernel: { rssBytes: rss, heapBytes: heapUsed, ...own } };
  }

  /** The use since the last reading; at the first, since the machine started. */
  #usage(): MachineMetrics["cpu"] {
    const now = cpus();
    const perCore = now.map(({ times }, core) => share(times, this.#cpus[core]?.times));
    this.#cpus = now;
    const count = Math.max(1, now.length);
    const usage = perCore.reduce((sum, each) => sum + each, 0) / count;
    return { count, usage, perCore, load: loadavg() };
  }
}

function share(now: CpuInfo["times"], before: CpuInfo["times"] | undefined): number {
  const spent = (times: CpuInfo["times"]) => Object.values(times).reduce((sum, ms) => sum + ms, 0);
  const all = spent(now) - (before === undefined ? 0 : spent(before));
  const idle = now.idle - (before?.idle ?? 0);
  return all <= 0 ? 0 : Math.min(1, Math.max(0, 1 - idle / all));
}

function memory(): MachineMetrics["memory"] {
  const known = meminfo();
  const [totalBytes, freeBytes] = [totalmem(), freemem()];
  const availableBytes = known.get("MemAvailable") ?? freeBytes;
  const swapTotalBytes = known.get("SwapTotal") ?? 0;
  const swapUsedBytes = swapTotalBytes - (known.get("SwapFree") ?? swapTotalBytes);
  const usedBytes = Math.max(0, totalBytes - availableBytes);
  return { totalBytes, freeBytes, availableBytes, usedBytes, swapTotalBytes, swapUsedBytes };
}

/** Bytes by name; empty where the system has no such file. */
function meminfo(): Map<string, number> {
  const rows = textOf("/proc/meminfo").matchAll(/^(\w+):\s+(\d+) kB$/gm);
  return new Map([...rows].map(([, name = "", kib]) => [name, Number(kib) * 1024]));
}

/** The first battery of the system; null: it has none. `folder` is as the kernel of Linux lays it out. */
export function battery(folder: string): MachineMetrics["battery"] {
  const name = namesIn(folder).find((each) => textOf(`${folder}/${each}/type`).trim() === "Battery");
  if (name === undefined) return null;
  const value = (file: string) => {
    const text = textOf(`${folder}/${name}/${file}`).trim();
    return text === "" ? undefined : Number(text);
  };
  const left = value("energy_now") ?? value("charge_now");
  const rate = value("power_now") ?? value("current_now") ?? 0;
  const charging = /^(Charging|Full)$/.test(textOf(`${folder}/${name}/status`).trim());
  const isKnown = !charging && left !== undefined && rate > 0;
  const secondsLeft = isKnown ? Math.round((left / rate) * 3600) : null;
  return { level: (value("capacity") ?? 0) / 100, charging, secondsLeft };
}

function disk(path: string): MachineMetrics["disk"] {
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    return { path, totalBytes: bsize * blocks, freeBytes: bsize * bavail };
  } catch {
    return { path, totalBytes: 0, freeBytes: 0 };
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
