// The layer check: who may import whom (ARCHITECTURE.md), no cycles, and no side door past the gate.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { findImports } from "./imports.mjs";

/** @typedef {import("./imports.mjs").Import} Import */
/** @typedef {{ path: string, line: number, message: string }} Violation */

const ground = ["lib", "abi"];
const middle = ["store", "permit", "llm", "dev"];
const daemonSide = [...ground, "wire/codec", "kernel", ...middle, "tool", "agent", "wire/server"];
const clientSide = [...ground, "wire/codec", "wire/client"];

/**
 * What each room may import besides itself. Rooms that only meet in boot.ts do not name each other.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const mayImport = {
  lib: [],
  abi: ["lib"],
  "wire/codec": ground,
  kernel: ground,
  ...Object.fromEntries(middle.map((room) => [room, [...ground, "wire/codec", "kernel"]])),
  tool: ground,
  agent: ground,
  "wire/server": daemonSide,
  daemon: daemonSide,
  cluster: [...daemonSide, "daemon"],
  boot: [...daemonSide, "daemon", "cluster"],
  "wire/client": [...ground, "wire/codec"],
  tui: clientSide,
  cli: [...clientSide, "tui"],
  main: [...daemonSide, "daemon", "cluster", "boot", ...clientSide, "tui", "cli"],
};

/** Rooms that reach the world by system call alone. */
const behindTheGate = new Set(["tool", "agent"]);
const sideDoors = new Set(
  "fs child_process net http https http2 tls dgram sqlite worker_threads cluster".split(" "),
);

/**
 * @param {ReadonlyMap<string, string>} files TypeScript sources by their path inside src/, with `/`
 * @returns {Violation[]} in path and line order
 */
export function checkLayers(files) {
  /** @type {Violation[]} */
  const violations = [];
  /** @type {Map<string, Map<string, number>>} */
  const graph = new Map();
  for (const [path, text] of files) {
    /** @type {Map<string, number>} */
    const edges = new Map();
    graph.set(path, edges);
    if (roomOf(path) === undefined) {
      violations.push({
        path,
        line: 1,
        message: "belongs to no room: the first folder must be one that scripts/layers.mjs lists",
      });
      continue;
    }
    for (const found of findImports(text)) {
      const message = judge(path, found);
      if (message) violations.push({ path, line: found.line, message });
      if (found.kind === "value" && found.specifier.startsWith("."))
        edges.set(resolve(path, found.specifier), found.line);
    }
  }
  violations.push(...findCycles(graph));
  return violations.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

/**
 * @param {string} path inside src/
 * @returns {string | undefined}
 */
function roomOf(path) {
  const [first = "", second = ""] = path.split("/");
  if (second === "") return first === "main.ts" || first === "boot.ts" ? first.slice(0, -3) : undefined;
  const room = first === "wire" ? `wire/${second}` : first;
  return Object.hasOwn(mayImport, room) ? room : undefined;
}

/**
 * @param {string} path
 * @param {string} specifier
 */
function resolve(path, specifier) {
  return posix.normalize(posix.join(posix.dirname(path), specifier));
}

/** Tests, and what only tests use: `x.test.ts`, `testing.ts`, anything under `testing/`. @param {string} path */
function isTesting(path) {
  return path.endsWith(".test.ts") || /(^|\/)testing(\/|\.ts$)/.test(path);
}

/**
 * @param {string} path the importer
 * @param {Import} found
 * @returns {string | undefined} what is wrong with it
 */
function judge(path, found) {
  const room = roomOf(path) ?? "";
  if (!found.specifier.startsWith(".")) return judgePackage(path, room, found);
  const target = resolve(path, found.specifier);
  if (target.startsWith("..")) {
    if (/\.(md|json)$/.test(target)) return undefined;
    return `${room} may not import ${found.specifier}: it lies outside src/`;
  }
  const other = roomOf(target);
  if (other === undefined) return `${room} may not import ${target}: it belongs to no room`;
  if (isTesting(target) && !isTesting(path)) return `${room} may not import ${target}: it is for tests only`;
  if (other === room) return undefined;
  if (isTesting(path) && target.startsWith("kernel/testing")) return undefined;
  if (!mayImport[room]?.includes(other)) return `${room} may not import ${other}: ${reason(room, other)}`;
  return room === "main" && !isTesting(path) ? judgeMain(other, found) : undefined;
}

/**
 * @param {string} path
 * @param {string} room
 * @param {Import} found
 */
function judgePackage(path, room, found) {
  if (!behindTheGate.has(room) || isTesting(path) || found.kind === "type") return undefined;
  const name = found.specifier.replace(/^node:/, "").split("/")[0] ?? "";
  if (!sideDoors.has(name)) return undefined;
  return `${room} may not import ${found.specifier}: it reaches the world by system call only (no side door)`;
}

/**
 * The entry loads only what the command at hand needs.
 * @param {string} other
 * @param {Import} found
 */
function judgeMain(other, found) {
  if (found.kind !== "value" || other === "lib") return undefined;
  const how = other === "abi" ? "only its types, or with await import()" : "only with await import()";
  return `main may not import ${other}: ${how}, so that a cold start stays fast`;
}

/**
 * @param {string} room
 * @param {string} other
 */
function reason(room, other) {
  if (behindTheGate.has(room) && other === "kernel")
    return "it sees of the kernel only the Sys handle in abi";
  if (mayImport[other]?.includes(room)) return `${other} is above ${room}`;
  return "they meet in boot.ts, or over the wire";
}

/**
 * One violation for each knot of files that import each other's values, shown by a shortest way round.
 * @param {ReadonlyMap<string, ReadonlyMap<string, number>>} graph file to imported file to line
 * @returns {Violation[]}
 */
function findCycles(graph) {
  /** @type {Violation[]} */
  const violations = [];
  const reported = new Set();
  for (const start of [...graph.keys()].sort()) {
    const cycle = reported.has(start) ? undefined : shortestCycle(graph, start);
    if (!cycle) continue;
    for (const path of cycle) reported.add(path);
    const line = graph.get(start)?.get(cycle[1] ?? start) ?? 1;
    violations.push({ path: start, line, message: `import cycle: ${[...cycle, start].join(" → ")}` });
  }
  return violations;
}

/**
 * Breadth first from `start` back to itself.
 * @param {ReadonlyMap<string, ReadonlyMap<string, number>>} graph
 * @param {string} start
 * @returns {string[] | undefined} the files on the way, `start` first
 */
function shortestCycle(graph, start) {
  /** @type {Map<string, string>} */
  const cameFrom = new Map();
  const queue = [start];
  for (const path of queue) {
    for (const next of graph.get(path)?.keys() ?? []) {
      if (next === start) {
        const way = [path];
        for (let back = cameFrom.get(path); back !== undefined; back = cameFrom.get(back)) way.unshift(back);
        return way;
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, path);
      queue.push(next);
    }
  }
  return undefined;
}

/**
 * @param {string} src
 * @returns {Map<string, string>}
 */
function readSources(src) {
  const paths = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .sort();
  return new Map(paths.map((path) => [path, readFileSync(join(src, path), "utf8")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readSources(join(dirname(dirname(fileURLToPath(import.meta.url))), "src"));
  const violations = checkLayers(files);
  for (const { path, line, message } of violations) console.log(`src/${path}:${line}: ${message}`);
  console.log(`layers: ${files.size} files, ${violations.length} violations`);
  if (violations.length > 0) process.exitCode = 1;
}
