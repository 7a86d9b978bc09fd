// What the inside of the house measures: circles, reading radius, sizes, names. `npm run walls` prints the table,
// `npm run walls -- --list <measure>` what lies behind one of its lines.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Visitor } from "oxc-parser";
import { circlesOf, isTesting, lineFinder, parse, radiusOf, readTree, root } from "./graph.mjs";

/** @typedef {{ path: string, line: number }} Place */
/** @typedef {Place & { name: string, lines: number, parameters: number }} Routine */
/**
 * @typedef {object} Source
 * @property {number} lines
 * @property {Set<string>} imports files of src/, imports of types and dynamic ones included
 * @property {Set<string>} loaded those that are loaded with it: no types, which leave nothing behind, and no dynamic ones
 * @property {Routine[]} routines
 * @property {(Place & { name: string, isType: boolean })[]} exported
 * @property {Set<string>} words names that are imported, re-exported or reached through a namespace
 */

/** A system call that needs little. */
const SMALL_CALL = "kernel/calls/process-list.ts";
const PS_COMMAND = "cli/command/process/ps.ts";
const MAX_PARAMETERS = 3;
const SMALL_FILE_LINES = 60;

/**
 * @param {string} path inside src/
 * @param {string} text
 * @returns {Source}
 */
export function readSource(path, text) {
  const { program, imports } = parse(path, text);
  /** @type {Source} */
  const source = {
    lines: text.split("\n").length - 1,
    imports: new Set(),
    loaded: new Set(),
    routines: [],
    exported: [],
    words: new Set(imports.flatMap(({ names }) => names)),
  };
  for (const { target, kind } of imports) {
    if (!target?.endsWith(".ts")) continue;
    source.imports.add(target);
    if (kind === "value") source.loaded.add(target);
  }
  walk(program, source, path, lineFinder(text));
  return source;
}

/**
 * Functions with their sizes, and what the file exports.
 * @param {import("oxc-parser").Program} program
 * @param {Source} source
 * @param {string} path
 * @param {(offset: number) => number} lineOf
 */
function walk(program, source, path, lineOf) {
  /** @param {any} node @param {string} name */
  const routine = (node, name) => {
    const [line, last] = [lineOf(node.start), lineOf(node.end)];
    source.routines.push({ path, line, name, lines: last - line + 1, parameters: node.params?.length ?? 0 });
  };
  /** @param {any} node @param {boolean} isType */
  const exported = (node, isType) => {
    if (node?.id?.name) source.exported.push({ path, line: lineOf(node.start), name: node.id.name, isType });
  };
  const namedBy = new Map();
  new Visitor({
    VariableDeclarator: (node) => void namedBy.set(node.init, /** @type {any} */ (node.id).name),
    MethodDefinition: (node) => void namedBy.set(node.value, /** @type {any} */ (node.key).name),
    Property: (node) => void namedBy.set(node.value, /** @type {any} */ (node.key).name),
    FunctionDeclaration: (node) => routine(node, node.id?.name ?? ""),
    FunctionExpression: (node) => routine(node, namedBy.get(node) ?? node.id?.name ?? ""),
    ArrowFunctionExpression: (node) => routine(node, namedBy.get(node) ?? ""),
    // `import("./x.ts")` in a type or before a property: the names taken from it
    MemberExpression: (node) => {
      const { object, property } = /** @type {any} */ (node);
      if (object.type === "AwaitExpression" && property.name) source.words.add(property.name);
    },
    ObjectPattern: (node) => {
      for (const each of /** @type {any[]} */ (node.properties))
        if (each.key?.name) source.words.add(each.key.name);
    },
    ExportNamedDeclaration: ({ declaration }) => {
      if (!declaration) return;
      if (declaration.type === "VariableDeclaration")
        for (const each of declaration.declarations) exported({ ...each, start: declaration.start }, false);
      else exported(declaration, /^TS(Interface|TypeAlias)/.test(declaration.type));
    },
  }).visit(program);
}

/** Names that test/, bench/ and scripts/ take from src/: their exports are used. @returns {string} */
function textOutside() {
  const folders = ["test", "bench", "scripts"];
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.(ts|mjs)$/.test(path))
        .map((path) => readFileSync(join(root, folder, path), "utf8")),
    )
    .join("\n");
}

/** @typedef {{ name: string, says: string, value: number, aim: number, list: () => string[] }} Measure */

/**
 * @param {ReadonlyMap<string, string>} texts
 * @param {string} outside
 * @returns {Measure[]}
 */
export function measure(texts, outside) {
  const sources = new Map([...texts].map(([path, text]) => [path, readSource(path, text)]));
  const production = [...sources].filter(([path]) => !isTesting(path));
  const graph = new Map(production.map(([path, { imports }]) => [path, imports]));
  const loaded = new Map(production.map(([path, source]) => [path, source.loaded]));
  const circle = circlesOf(graph)[0] ?? [];
  const call = radiusOf(graph, SMALL_CALL);
  const routines = production.flatMap(([, source]) => source.routines);
  const wide = routines.filter(({ parameters }) => parameters > MAX_PARAMETERS);
  const [longest] = [...routines].sort((a, b) => b.lines - a.lines);
  const lines = production.reduce((sum, [, source]) => sum + source.lines, 0);
  const repeated = repeatedTypes(production);
  const lonely = lonelyFiles(production, graph);
  const unnamed = unnamedExports(production, sources, outside);
  const folders = countBy([...texts.keys()].map(posix.dirname));
  const [fullest] = folders;
  const at = (/** @type {Routine} */ { path, line, name }) => `src/${path}:${line} ${name || "(anonymous)"}`;
  return [
    {
      name: "circle",
      says: "largest circle of files, types included",
      value: circle.length,
      aim: 5,
      list: () => circle,
    },
    {
      name: "call",
      says: `files to read for a small call (${posix.basename(SMALL_CALL, ".ts")})`,
      value: call.length,
      aim: 60,
      list: () => call,
    },
    {
      name: "ps",
      says: "files that `crux ps` loads, client side",
      ...counted(radiusOf(loaded, PS_COMMAND)),
      aim: 25,
    },
    {
      name: "parameters",
      says: `functions with more than ${MAX_PARAMETERS} parameters`,
      value: wide.length,
      aim: 100,
      list: () => wide.map((each) => `${at(each)} ${each.parameters}`),
    },
    {
      name: "types",
      says: "exported types declared more than twice under one name",
      ...counted(repeated),
      aim: 0,
    },
    { name: "lines", says: "lines of production code", value: lines, aim: 80_000, list: () => [] },
    {
      name: "lonely",
      says: `files of at most ${SMALL_FILE_LINES} lines with a single importer beside them`,
      ...counted(lonely),
      aim: 60,
    },
    { name: "exports", says: "exports named nowhere else, tests counted", ...counted(unnamed), aim: 20 },
    {
      name: "folder",
      says: "files directly in one folder, at most",
      value: fullest?.[1] ?? 0,
      aim: 45,
      list: () => folders.slice(0, 20).map(([folder, count]) => `${count} src/${folder}`),
    },
    {
      name: "function",
      says: "longest function, in lines",
      value: longest?.lines ?? 0,
      aim: 80,
      list: () =>
        [...routines]
          .sort((a, b) => b.lines - a.lines)
          .filter(({ lines }) => lines > 60)
          .map((each) => `${each.lines} ${at(each)}`),
    },
  ];
}

/** @param {string[]} found */
function counted(found) {
  return { value: found.length, list: () => found };
}

/** @param {[string, Source][]} production */
function repeatedTypes(production) {
  const types = production.flatMap(([, { exported }]) => exported.filter(({ isType }) => isType));
  return countBy(types.map(({ name }) => name))
    .filter(([, count]) => count > 2)
    .map(
      ([name, count]) =>
        `${count} ${name}: ${types
          .filter((type) => type.name === name)
          .map(({ path }) => path)
          .join(" ")}`,
    );
}

/**
 * @param {[string, Source][]} production
 * @param {ReadonlyMap<string, ReadonlySet<string>>} graph
 */
function lonelyFiles(production, graph) {
  /** @type {Map<string, string[]>} */
  const importers = new Map();
  for (const [path, targets] of graph)
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), path]);
  return production
    .filter(([path, { lines }]) => lines <= SMALL_FILE_LINES && isBeside(path, importers.get(path) ?? []))
    .map(([path]) => `src/${path} of ${importers.get(path)?.[0]}`);
}

/** @param {string} path @param {string[]} importers */
function isBeside(path, importers) {
  return importers.length === 1 && posix.dirname(importers[0] ?? "") === posix.dirname(path);
}

/**
 * @param {[string, Source][]} production
 * @param {ReadonlyMap<string, Source>} sources
 * @param {string} outside
 */
function unnamedExports(production, sources, outside) {
  const named = new Set([...sources.values()].flatMap(({ words }) => [...words]));
  for (const [word] of outside.matchAll(/[\w$]+/g)) named.add(word);
  return production.flatMap(([, { exported }]) =>
    exported
      .filter(({ name }) => !named.has(name))
      .map(({ path, line, name }) => `src/${path}:${line} ${name}`),
  );
}

/** @param {string[]} words @returns {[string, number][]} most frequent first */
function countBy(words) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const measures = measure(readTree(), textOutside());
  const wanted = process.argv[process.argv.indexOf("--list") + 1];
  if (process.argv.includes("--list")) {
    const found = measures.find(({ name }) => name === wanted);
    if (!found)
      throw new Error(`no measure ${wanted}; there are ${measures.map(({ name }) => name).join(", ")}`);
    console.log(found.list().join("\n"));
  } else if (process.argv.includes("--json")) {
    console.log(JSON.stringify(Object.fromEntries(measures.map(({ name, value }) => [name, value]))));
  } else {
    for (const { name, says, value, aim } of measures)
      console.log(
        `${value <= aim ? " " : "!"} ${says.padEnd(62)} ${String(value).padStart(7)}  aim ${String(aim).padEnd(6)} ${name}`,
      );
  }
}
