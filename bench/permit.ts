/**
 * What a permission decision costs, in one run:
 *   node bench/permit.ts
 * A whole decision on a shell command with the shipped rules and a few of a user's, beside the bare parse of the same text by
 * the grammar, and beside the start of the smallest program there is.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Language, Parser } from "web-tree-sitter";
import { asPid } from "../src/abi/ids.ts";
import type { RuleText } from "../src/abi/rules.ts";
import type { Subject } from "../src/kernel/ports/permit.ts";
import { makePermit } from "../src/permit/policy.ts";
import { median, printTable } from "./table.ts";

const ROUNDS = Number(process.env.CRUX_BENCH_ROUNDS ?? 2_000);
const SPAWNS = 50;

const TEXTS: Readonly<Record<string, string>> = {
  "git status": "git status",
  "a pipe of five": "git log --oneline | grep fix | sort -u | head -20 | wc -l",
  "an uncertain text": `for f in $(ls *.ts); do "$RUNNER" "$f" > /tmp/out || { cat /tmp/out; break; }; done`,
};

const rules = ["bash(git *)", "bash(npm test)", "edit(src/**)", "bash(make:*)"].map(
  (text): RuleText => ({ source: "userSettings", behavior: "allow", text }),
);
const permit = makePermit({
  rules: [...rules, { source: "userSettings", behavior: "deny", text: "view(secrets/**)" }],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/home/u/.local/state/crux"],
  realPath: (path) => path,
  exists: () => false,
});
const subject: Subject = {
  pid: asPid(1),
  mode: "default",
  cwd: "/ws",
  roots: ["/ws"],
  allowedDevices: null,
  grants: [],
};

const parser = await bareParser();
await permit.ready?.([exec("true", 0)]);
const spawnUs = median(Array.from({ length: SPAWNS }, () => timed(() => spawnSync("/bin/true"))));
const rows = Object.entries(TEXTS).map(([what, text]) => {
  const decision = measured((n) => permit.decide(subject, { tool: "bash", effects: [exec(text, n)] }));
  const bare = measured(() => parser.parse(text)?.delete());
  const ratio = (base: number): string => `${(decision / base).toFixed(decision < base ? 3 : 1)}×`;
  return [what, decision.toFixed(0), bare.toFixed(0), ratio(bare), ratio(spawnUs)];
});
printTable(
  ["decision on", "µs", "bare parse µs", "to the parse", `to a spawn (${spawnUs.toFixed(0)} µs)`],
  rows,
);

/** Each round in a directory of its own: nothing is remembered from the last one. */
function exec(shell: string, n: number) {
  return { kind: "exec", argv: ["bash", "-c", shell], cwd: `/ws/${n}`, certain: false, shell } as const;
}

function measured(act: (n: number) => unknown): number {
  for (let n = 0; n < ROUNDS / 10; n++) act(n);
  return median(Array.from({ length: ROUNDS }, (_, n) => timed(() => act(n))));
}

function timed(act: () => unknown): number {
  const began = performance.now();
  act();
  return (performance.now() - began) * 1000;
}

async function bareParser(): Promise<Parser> {
  const { resolve } = createRequire(import.meta.url);
  await Parser.init();
  const made = new Parser();
  made.setLanguage(await Language.load(readFileSync(resolve("tree-sitter-bash/tree-sitter-bash.wasm"))));
  return made;
}
