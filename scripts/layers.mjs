// The layer check: who may import whom (rooms.mjs), no cycles, and no side door past the gate. Prints what the rooms
// measure. `--tighten` lowers the numbers in arrows.txt to what is left; `--arrows [room]` lists the files behind them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { circlesOf, isTesting, parse, radiusOf, readTree, root } from "./graph.mjs";
import { behindTheGate, houseOf, isDown, refusal, roomOf } from "./rooms.mjs";

/** @typedef {import("./graph.mjs").Import} Import */
/** @typedef {{ path: string, line: number, message: string }} Violation */
/** @typedef {{ path: string, line: number, target: string, pair: string }} Arrow an import against the plan */
/** @typedef {ReadonlyMap<string, readonly Import[]>} Tree files by their path inside src/, with what they import */

const sideDoors = new Set(
  "fs child_process net http https http2 tls dgram sqlite worker_threads cluster".split(" "),
);

/**
 * What no file may do.
 * @param {Tree} tree
 * @returns {Violation[]} in path and line order
 */
export function checkLayers(tree) {
  /** @type {Violation[]} */
  const violations = [];
  for (const [path, imports] of tree) {
    if (houseOf(path) === undefined) {
      const message = "belongs to no room: the first folder must be one that scripts/rooms.mjs lists";
      violations.push({ path, line: 1, message });
      continue;
    }
    for (const found of imports) {
      const message = judge(path, found);
      if (message) violations.push({ path, line: found.line, message });
    }
  }
  violations.push(...findCycles(tree));
  return violations.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

/**
 * What runs against the plan inside a house: one arrow from a file to a file, types included, tests left out.
 * @param {Tree} tree
 * @returns {Arrow[]}
 */
export function findArrows(tree) {
  /** @type {Map<string, Arrow>} */
  const arrows = new Map();
  for (const [path, imports] of tree)
    for (const { target, line } of imports) {
      if (!target || !tree.has(target) || isTesting(path) || isDown(path, target)) continue;
      const pair = `${roomOf(path)} → ${roomOf(target)}`;
      if (!arrows.has(`${path} ${target}`)) arrows.set(`${path} ${target}`, { path, line, target, pair });
    }
  return [...arrows.values()];
}

/**
 * The numbers of arrows.txt, `count room → room` a line. Of a pair that stands there twice, as it does where two
 * branches lowered it, the lower holds.
 * @param {string} text
 * @returns {Map<string, number>} by pair
 */
export function readKnown(text) {
  /** @type {Map<string, number>} */
  const known = new Map();
  for (const [, count, pair = ""] of text.matchAll(/^(\d+) (.*)$/gm))
    known.set(pair, Math.min(Number(count), known.get(pair) ?? Number.POSITIVE_INFINITY));
  return known;
}

/**
 * @param {readonly Arrow[]} arrows
 * @param {ReadonlyMap<string, number>} known
 * @returns {{ more: string[], fewer: boolean, tightened: string[] }} the arrows of pairs that have more than is known,
 *   whether some have fewer, and the lines of arrows.txt as they may be from now on
 */
export function compareArrows(arrows, known) {
  /** @type {Map<string, Arrow[]>} */
  const pairs = new Map();
  for (const arrow of arrows) pairs.set(arrow.pair, [...(pairs.get(arrow.pair) ?? []), arrow]);
  const more = [...pairs].filter(([pair, found]) => found.length > (known.get(pair) ?? 0));
  return {
    more: more.flatMap(([pair, found]) => [
      `${pair}: ${found.length} imports against the plan, ${known.get(pair) ?? 0} known. One of these is new:`,
      ...found.map(showArrow),
    ]),
    fewer: [...known].some(([pair, count]) => (pairs.get(pair)?.length ?? 0) < count),
    tightened: [...known]
      .map(([pair, count]) => /** @type {const} */ ([pair, Math.min(count, pairs.get(pair)?.length ?? 0)]))
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([pair, count]) => `${count} ${pair}`),
  };
}

/** @param {Arrow} arrow */
function showArrow({ path, line, target }) {
  return `  src/${path}:${line} imports ${target}`;
}

/**
 * @param {Tree} tree
 * @returns {{ circle: string[], rooms: { room: string, files: number, radius: number, median: number }[] }} the largest
 *   circle, and for each room its files, those to read to be sure of all of it, and of its middle file
 */
export function measureRooms(tree) {
  const production = [...tree].filter(([path]) => !isTesting(path));
  const graph = new Map(
    production.map(([path, imports]) => [path, new Set(imports.flatMap(({ target }) => target ?? []))]),
  );
  /** @type {Map<string, string[]>} */
  const members = new Map();
  for (const path of graph.keys()) members.set(roomOf(path), [...(members.get(roomOf(path)) ?? []), path]);
  const rooms = [...members]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([room, files]) => {
      const each = files.map((path) => radiusOf(graph, path).length).sort((a, b) => a - b);
      return {
        room,
        files: files.length,
        radius: radiusOf(graph, ...files).length,
        median: each[each.length >> 1] ?? 0,
      };
    });
  return { circle: circlesOf(graph)[0] ?? [], rooms };
}

/**
 * @param {string} path the importer
 * @param {Import} found
 * @returns {string | undefined} what is wrong with it
 */
function judge(path, found) {
  const house = houseOf(path) ?? "";
  const { target } = found;
  if (target === undefined) return judgePackage(path, house, found);
  if (target.startsWith("..")) {
    if (/\.(md|json)$/.test(target)) return undefined;
    return `${house} may not import ${found.specifier}: it lies outside src/`;
  }
  const other = houseOf(target);
  if (other === undefined) return `${house} may not import ${target}: it belongs to no room`;
  if (isTesting(target) && !isTesting(path)) return `${house} may not import ${target}: it is for tests only`;
  if (isTesting(path) && target.startsWith("kernel/testing")) return undefined;
  const why = refusal(house, other);
  if (why) return `${house} may not import ${other}: ${why}`;
  return house === "main" && other !== house && !isTesting(path) ? judgeMain(other, found) : undefined;
}

/**
 * @param {string} path
 * @param {string} house
 * @param {Import} found
 */
function judgePackage(path, house, found) {
  if (!behindTheGate.has(house) || isTesting(path) || found.kind === "type") return undefined;
  const name = found.specifier.replace(/^node:/, "").split("/")[0] ?? "";
  if (!sideDoors.has(name)) return undefined;
  return `${house} may not import ${found.specifier}: it reaches the world by system call only (no side door)`;
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
 * One violation for each knot of files that import each other's values, shown by a shortest way round.
 * @param {Tree} tree
 * @returns {Violation[]}
 */
function findCycles(tree) {
  /** @type {Violation[]} */
  const violations = [];
  const reported = new Set();
  /** @type {Map<string, Map<string, number>>} */
  const graph = new Map();
  for (const [path, imports] of tree) {
    const values = imports.filter(({ kind }) => kind === "value");
    graph.set(path, new Map(values.flatMap(({ target, line }) => (target ? [[target, line]] : []))));
  }
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

const KNOWN = join(root, "scripts/arrows.txt");

/** @param {ReadonlySet<string>} flags @param {string} room */
function main(flags, room) {
  /** @type {Map<string, readonly Import[]>} */
  const tree = new Map([...readTree()].map(([path, text]) => [path, parse(path, text).imports]));
  const violations = checkLayers(tree);
  const arrows = findArrows(tree);
  const written = readFileSync(KNOWN, "utf8");
  const { more, fewer, tightened } = compareArrows(arrows, readKnown(written));
  if (flags.has("--arrows")) {
    for (const arrow of arrows) if (arrow.pair.includes(room)) console.log(showArrow(arrow).trim());
    return;
  }
  if (flags.has("--tighten")) {
    const comment = written.split("\n").filter((line) => line.startsWith("#"));
    writeFileSync(KNOWN, `${[...comment, ...tightened].join("\n")}\n`);
  } else if (fewer)
    console.log("note: fewer arrows than scripts/arrows.txt says: `node scripts/layers.mjs --tighten`");
  for (const { path, line, message } of violations) console.log(`src/${path}:${line}: ${message}`);
  for (const line of more) console.log(line);
  const { circle, rooms } = measureRooms(tree);
  console.log("files  to read  for one  room");
  for (const { room, files, radius, median } of rooms)
    console.log([`${files}`.padStart(5), `${radius}`.padStart(7), `${median}`.padStart(7), room].join("  "));
  console.log(`largest circle: ${circle.length} files`);
  console.log(
    `layers: ${tree.size} files, ${violations.length} violations, ${arrows.length} imports against the plan`,
  );
  if (violations.length + more.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main(new Set(process.argv.slice(2)), process.argv[process.argv.indexOf("--arrows") + 1] ?? "");
