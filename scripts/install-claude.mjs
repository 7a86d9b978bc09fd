// Fetches the Claude Code program that some system tests drive, at one pinned version, into a cache inside
// node_modules. Prints its path on stdout; exits 1, with the reason on stderr, where it cannot be had.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const version = "2.1.329";
const name = "@anthropic-ai/claude-code";
const home = join(dirname(dirname(fileURLToPath(import.meta.url))), "node_modules/.cache/claude-code");
const program = join(home, "node_modules/.bin/claude");

if (installedVersion() !== version) install();
if (installedVersion() !== version) fail(`${program} does not run as version ${version}`);
console.log(program);

function installedVersion() {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 60_000 });
  return stdout?.trim().split(" ")[0];
}

function install() {
  mkdirSync(home, { recursive: true });
  const manifest = { private: true, dependencies: { [name]: version }, allowScripts: { [name]: true } };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
  const quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  // once: the second retry of npm comes a minute later, and a registry that is out of reach is so for the third time
  const args = ["install", "--prefix", home, ...quiet, "--fetch-retries=1"];
  const { status, error, stderr } = spawnSync("npm", args, {
    cwd: home,
    encoding: "utf8",
    timeout: 300_000,
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) fail(error?.message ?? (stderr.trim() || `npm install: exit code ${status}`));
}

/** @param {string} why */
function fail(why) {
  console.error(`${name} ${version} is not available: ${why}`);
  process.exit(1);
}
