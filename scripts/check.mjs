// What must hold before a commit. One line per step; the output of a step only if it fails, and what it notes.
import { spawn } from "node:child_process";
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
// what the last type check found, so that the next looks at what changed; on two busy cores one thread is also the least work
const typesKept = "node_modules/.cache/types.tsbuildinfo";

/** @typedef {readonly [step: string, command: string, ...args: string[]]} Step */

/** None needs another: they run side by side. @type {readonly Step[]} */
const looks = [
  ["format, lint", "biome", "check", "--error-on-warnings", "--max-diagnostics=50"],
  [
    "types",
    "tsc",
    "--noEmit",
    "-p",
    ".",
    "--singleThreaded",
    "--incremental",
    "--tsBuildInfoFile",
    typesKept,
  ],
  ["layers", node, "scripts/layers.mjs"],
  ["unused code", "knip", "--no-progress"],
];
/** @type {Step} */
const unitTests = ["unit tests", "vitest", "run", "--project", "unit"];

const startedMs = Date.now();
const passed = await Promise.all(looks.map(run));
// who runs `npm test` right after need not run them twice
if (passed.every(Boolean) && process.env.CRUX_UNIT_TESTS !== "later") passed.push(await run(unitTests));
if (!passed.every(Boolean)) process.exit(1);
console.log(`check: all well in ${seconds(startedMs)}`);

/**
 * Whether it passed.
 * @param {Step} step
 */
function run([name, command, ...args]) {
  const stepMs = Date.now();
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  return new Promise((resolve) => {
    child.once("error", (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.once("close", (status) => {
      const passed = status === 0;
      console.log(`${passed ? "ok  " : "FAIL"} ${name.padEnd(14)} ${seconds(stepMs)}`);
      for (const line of `${Buffer.concat(output)}`.split("\n"))
        if (line.startsWith("note: ")) console.log(line);
      if (!passed) {
        process.stdout.write(Buffer.concat(output));
        console.log(`check: ${name} failed. Fix it, then run \`npm run check\` again.`);
      }
      resolve(passed);
    });
  });
}

/** @param {number} sinceMs */
function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
}
