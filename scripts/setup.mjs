// Makes a fresh clone runnable: installs the dependencies, then builds, each only where it is due. Says
// nothing and costs a few milliseconds when all is in place. Runs on plain Node 20 with nothing installed.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { holdLock } from "./lock.mjs";
import { installStamp, readText, sourceStamp } from "./stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stampFile = join(modules, ".crux-stamp");
const ownNode = join(modules, "node/bin/node");
/** @type {NodeJS.Signals[]} */
const STOPS = ["SIGINT", "SIGTERM", "SIGHUP"];
const installOnly = process.argv.includes("--install-only");

if (!isInstalled() || !isBuilt()) {
  takeLock();
  // asked again: the holder before us may have done it
  if (!isInstalled()) {
    if (!wasInstalledByHand()) await install();
    if (findNode() === undefined) {
      fail(
        "crux: Node 24 is missing: npm did not run the install script of the package `node`.\n" +
          `Run \`npm rebuild node\` in ${root}, or install Node 24 or newer, then try again.`,
      );
    }
    writeFileSync(stampFile, installStamp(root));
  }
  if (!isBuilt()) await build();
}

function isInstalled() {
  return readText(stampFile) === installStamp(root) && findNode() !== undefined;
}

function isBuilt() {
  if (installOnly) return true;
  return existsSync(join(root, "dist/main.cjs")) && readText(join(root, "dist/.stamp")) === sourceStamp(root);
}

/** A plain `npm install` has put in place what the lock file says; npm lists what it put there. */
function wasInstalledByHand() {
  const [wanted, there] = ["package-lock.json", "node_modules/.package-lock.json"].map((name) => {
    return JSON.parse(readText(join(root, name)) || "{}").packages ?? {};
  });
  const isThere = Object.entries(wanted).every(
    ([path, { version, optional }]) => path === "" || optional === true || there[path]?.version === version,
  );
  return isThere && existsSync(ownNode);
}

async function install() {
  // --no-save: the lock file is honoured, and never rewritten by somebody's newer or older npm
  await run(
    "crux: installing dependencies (npm install)…",
    ["npm", "install", "--include=dev", "--no-save", "--loglevel=error"],
    `Check that npm reaches a registry, run \`npm install\` in ${root}, then try again.`,
  );
}

async function build() {
  await run(
    "crux: building…",
    [findNode() ?? process.execPath, join(root, "scripts/build.mjs")],
    "Mend what is reported above, then try again.",
  );
}

/** The project's own Node 24, else this one when it is new enough. */
function findNode() {
  if (existsSync(ownNode)) return ownNode;
  return Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : undefined;
}

/**
 * Runs a step quietly; its output is shown only when it fails. Ctrl-C reaches the step from the terminal, too: what it
 * leaves is done again the next time.
 * @param {string} title
 * @param {string[]} argv
 * @param {string} advice
 */
async function run(title, [command = "", ...args], advice) {
  let stopped = 0;
  const onSignal = (/** @type {NodeJS.Signals} */ name, /** @type {number} */ number) => {
    stopped = 128 + number;
    child.kill(name);
  };
  for (const name of STOPS) process.on(name, onSignal);
  console.error(title);
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  const how = await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal === null ? code : `ended by ${signal}`));
  });
  for (const name of STOPS) process.off(name, onSignal);
  if (stopped !== 0)
    fail(
      "crux: the set-up was stopped. Run the same command again: it continues with what is missing.",
      stopped,
    );
  if (how === 0) return;
  process.stderr.write(Buffer.concat(output));
  fail(
    `crux: ${command} ${args[0]} failed: ${typeof how === "number" ? `exit code ${how}` : how}.\n${advice}`,
  );
}

function takeLock() {
  const onWait = (/** @type {number} */ pid) =>
    console.error(`crux: waiting for the set-up that process ${pid} is running…`);
  try {
    holdLock(join(modules, ".crux-setup"), onWait);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    fail(
      `crux: cannot be set up in ${root}: ${why}.\n` +
        "Make this folder writable for yourself, or clone Crux into one that is, then try again.",
    );
  }
}

/**
 * @param {string} message
 * @param {number} [code]
 * @returns {never}
 */
function fail(message, code = 1) {
  console.error(message);
  process.exit(code);
}
