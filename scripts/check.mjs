// What must hold before a commit, cheapest first. One line per step; the output of a step only if it fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules/.bin");
// the tools start through `#!/usr/bin/env node`, which must find the project's Node
// a first look at what `npm test` looks at in full
const few = { CRUX_RIGHTS_TRACES: "10000", CRUX_FUZZ_CASES: "2000" };
const env = { ...few, ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
const ownNode = join(bin, "node");
const node = existsSync(ownNode) ? ownNode : process.execPath;

/** @type {ReadonlyArray<readonly [step: string, command: string, ...args: string[]]>} */
const steps = [
  ["format, lint", "biome", "check", "--error-on-warnings", "--max-diagnostics=50"],
  ["types", "tsc", "--noEmit", "-p", "."],
  ["layers", node, "scripts/layers.mjs"],
  ["unused code", "knip", "--no-progress"],
  // who runs `npm test` right after need not run them twice
  ...(process.env.CRUX_UNIT_TESTS === "later"
    ? []
    : [/** @type {const} */ (["unit tests", "vitest", "run", "--project", "unit"])]),
];

const startedMs = Date.now();
for (const [step, command, ...args] of steps) {
  const stepMs = Date.now();
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const passed = status === 0;
  console.log(`${passed ? "ok  " : "FAIL"} ${step.padEnd(14)} ${seconds(stepMs)}`);
  if (passed) continue;
  process.stdout.write(`${stdout ?? ""}${stderr ?? ""}`);
  if (error) console.log(error.message);
  console.log(`check: ${step} failed. Mend it, then run \`npm run check\` again.`);
  process.exit(1);
}
console.log(`check: all well in ${seconds(startedMs)}`);

/** @param {number} sinceMs */
function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
}
