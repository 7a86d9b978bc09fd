// Makes a fresh clone runnable: installs the dependencies, then builds, each only where it is due. Says
// nothing and costs a few milliseconds when all is in place. Runs on plain Node 20 with nothing installed.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { holdLock } from "./lock.mjs";
import { installStamp, readText, sourceStamp } from "./stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stampFile = join(modules, ".crux-stamp");
const ownNode = join(modules, "node/bin/node");
const installOnly = process.argv.includes("--install-only");

if (!isInstalled() || !isBuilt()) {
  holdLock(join(modules, ".crux-setup"), onWait);
  // asked again: the holder before us may have done it
  if (!isInstalled()) {
    if (!wasInstalledByHand()) install();
    if (findNode() === undefined) {
      fail(
        "crux: Node 24 is missing: npm did not run the install script of the package `node`.\n" +
          `Run \`npm rebuild node\` in ${root}, or install Node 24 or newer, then try again.`,
      );
    }
    writeFileSync(stampFile, installStamp(root));
  }
  if (!isBuilt()) build();
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

function install() {
  console.error("crux: installing dependencies (npm install)…");
  // --no-save: the lock file is honoured, and never rewritten by somebody's newer or older npm
  run(
    "npm",
    ["install", "--include=dev", "--no-save", "--loglevel=error"],
    `Check that npm reaches a registry, run \`npm install\` in ${root}, then try again.`,
  );
}

function build() {
  console.error("crux: building…");
  run(
    findNode() ?? process.execPath,
    [join(root, "scripts/build.mjs")],
    "Mend what is reported above, then try again.",
  );
}

/** The project's own Node 24, else this one when it is new enough. */
function findNode() {
  if (existsSync(ownNode)) return ownNode;
  return Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : undefined;
}

/**
 * Runs a step quietly; its output is shown only when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {string} advice
 */
function run(command, args, advice) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}`);
  const how = error?.message ?? (signal ? `ended by ${signal}` : `exit code ${status}`);
  fail(`crux: ${command} ${args[0]} failed: ${how}.\n${advice}`);
}

/** @param {number} pid */
function onWait(pid) {
  console.error(`crux: waiting for the set-up that process ${pid} is running…`);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}
