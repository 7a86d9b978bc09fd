/**
 * What it costs to confine a program: started bare, in the namespace that every child has, in the sandbox, in one that was made
 * ahead while nothing else happened (as a model thinks), and in one with a way out to allowed hosts. In one run, each in turn, so
 * that the ratios hold on any machine.
 *   node bench/sandbox.ts              (CRUX_BENCH_STARTS starts of each, 100)
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { asPid } from "../src/abi/ids.ts";
import type { SandboxProfile } from "../src/abi/sandbox.ts";
import { HostProcesses } from "../src/dev/host/exec.ts";
import { Sandboxes } from "../src/dev/host/sandbox/sandbox.ts";
import type { ExecSpec } from "../src/kernel/ports/host.ts";
import { makePermit } from "../src/permit/policy.ts";
import { median, printTable } from "./table.ts";

const STARTS = Number(process.env.CRUX_BENCH_STARTS ?? 100);
const dir = realpathSync(mkdtempSync("/var/tmp/crux-bench-sandbox-"));
const work = join(dir, "work");
for (const name of [".git/hooks", ".crux", "src/a/b", "node_modules"])
  mkdirSync(join(work, name), { recursive: true });
for (const name of [".git/config", ".env", "src/a/.env.local"]) writeFileSync(join(work, name), "");

const sandboxes = new Sandboxes({ dir: join(dir, "sb"), ledgerDir: join(dir, "ledger") });
const exec = new HostProcesses({ kernelId: "k-bench", epoch: 1, pipesDir: join(dir, "pipes"), sandboxes });
const permit = makePermit({
  rules: [],
  defaultMode: "default",
  additionalDirectories: [],
  home: join(dir, "home"),
  kernelPaths: [join(dir, "state")],
  realPath: (path) => path,
});
const subject = {
  pid: asPid(1),
  mode: "default",
  cwd: work,
  roots: [work],
  allowedDevices: null,
  grants: [],
} as const;
const effect = { kind: "exec", argv: ["make"], cwd: work, certain: true } as const;
const profileNow = () => permit.sandbox?.(subject, { tool: "bash", effects: [effect] }) ?? null;

const never = new AbortController().signal;
const THOUGHT_MS = Number(process.env.CRUX_BENCH_THOUGHT_MS ?? 60);
const mine = { id: "bench", until: new AbortController().signal };
async function run(sandbox: SandboxProfile | null, more: Pick<ExecSpec, "process"> = {}): Promise<void> {
  const spec = {
    argv: ["/bin/true"],
    cwd: work,
    env: { PATH: "/usr/bin:/bin" },
    owner: "bench",
    onOutput: () => {},
  };
  const { code, error } = await exec.run({ ...spec, ...more, sandbox }, never).exited;
  if (code !== 0) throw error ?? new Error(`exit ${code}`);
}

function bare(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/true", { cwd: work, env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}

interface Way {
  readonly name: string;
  /** Not measured. */
  readonly before?: () => Promise<unknown>;
  readonly act: () => Promise<void> | void;
}
const ways: readonly Way[] = [
  { name: "started bare", act: bare },
  { name: "in a namespace, as every child", act: () => run(null) },
  { name: "in the sandbox", act: () => run(profileNow()) },
  {
    name: "in one made ahead",
    before: () => setTimeout(THOUGHT_MS),
    act: () => run(profileNow(), { process: mine }),
  },
  {
    name: "in the sandbox, hosts allowed",
    act: () => run({ ...(profileNow() as SandboxProfile), network: { allow: ["a.example"], deny: [] } }),
  },
  { name: "its profile alone", act: () => void profileNow() },
];
const times = ways.map((): number[] => []);
for (const { act } of ways) await act();
for (let i = 0; i < STARTS; i++)
  for (const [at, { before, act }] of ways.entries()) {
    await before?.();
    const began = performance.now();
    await act();
    times[at]?.push(performance.now() - began);
  }
const [base = 1, namespace = 1, fresh = 1] = times.map(median);
printTable(
  ["a program that does nothing", "median ms", "to bare", "to the sandbox", "over a namespace ms", "aim"],
  ways.map(({ name }, at) => {
    const ms = median(times[at] ?? []);
    const over = at < 2 || at === ways.length - 1 ? "" : (ms - namespace).toFixed(1);
    const ratios = [base, fresh].map((each) => `${(ms / each).toFixed(2)}x`);
    return [name, ms.toFixed(2), ...ratios, over, at === 2 ? "6 ms" : ""];
  }),
);
await exec.close();
rmSync(dir, { recursive: true, force: true });
