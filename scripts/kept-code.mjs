// What V8 compiles of the files of `crux ps` and `crux version` while they run, kept beside them: what Node itself keeps of a file has
// the functions that are compiled as it is loaded, and none of those that then run. Each runs once, before a daemon that is none.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import pkg from "../package.json" with { type: "json" };

/** Of bin/crux: V8 takes code only under the flags under which it was made. */
const FLAGS = [
  "--single-threaded-gc",
  "--v8-pool-size=1",
  "--min-semi-space-size=2",
  "--max-semi-space-size=2",
];

const PROCESS = {
  ...{ pid: 7, ppid: 1, kind: "agent", state: "running", intent: "fix the failing test", skills: [] },
  ...{ tokens_used: 1200, elapsed_ms: 3100, cost_usd: 0.01, activity: "bash" },
};

/** @type {Readonly<Record<string, object>>} */
const ANSWERS = { ping: { version: pkg.version }, auth: {}, list_procs: { processes: [PROCESS] } };

/** Before main.ts, which finds code without content: it is as if V8 had taken it. */
const PRELOAD = `
const [vm, { writeFileSync }] = [require("node:vm"), require("node:fs")];
vm.Script = class extends vm.Script {
  constructor(text, { filename }) {
    super(text, { filename });
    this.cachedDataRejected = false;
    process.on("exit", () => writeFileSync(filename.replace(/cjs$/, "code"), this.createCachedData()));
  }
};`;

/**
 * @param {string} node that which bin/crux starts
 * @param {string} dist
 */
export async function keepCode(node, dist) {
  const dir = mkdtempSync(join(tmpdir(), "crux-code-"));
  const [runtime, state] = [join(dir, "crux"), join(dir, "state/crux")];
  mkdirSync(runtime, { mode: 0o700 });
  chmodSync(runtime, 0o700);
  writeFileSync(join(runtime, "crux.owner"), JSON.stringify({ pid: process.pid, stateDir: state }));
  writeFileSync(join(runtime, "crux.cookie"), "0".repeat(64));
  const server = createServer((socket) => {
    socket.on("error", () => {});
    createInterface(socket).on("line", (line) => {
      const { method } = JSON.parse(line);
      socket.write(`${JSON.stringify({ ok: true, payload: ANSWERS[method] })}\n`);
    });
  });
  try {
    await new Promise((resolve, reject) => {
      server.on("error", reject);
      server.listen(join(runtime, "crux.sock"), () => resolve(undefined));
    });
    const env = { HOME: dir, XDG_RUNTIME_DIR: dir, XDG_STATE_HOME: join(dir, "state"), LANG: "C.UTF-8" };
    const preload = join(dir, "preload.cjs");
    writeFileSync(preload, PRELOAD);
    for (const name of ["ps", "version"]) {
      writeFileSync(join(dist, `${name}.code`), "");
      const words = [...FLAGS, "--require", preload, join(dist, "main.cjs"), name];
      await promisify(execFile)(node, words, { cwd: dir, env, timeout: 20_000 });
    }
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
