// What src/ imports from src/: the sources, read by one parser, and the graph of their imports.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

/**
 * `value` and `type` are static imports and re-exports; `dynamic` is `import("…")`.
 * @typedef {object} Import
 * @property {string} specifier as written
 * @property {string | undefined} target the file it names, by its path in src/; none for a package
 * @property {number} line
 * @property {"value" | "type" | "dynamic"} kind
 * @property {readonly string[]} names what is taken by its name
 */
/** @typedef {ReadonlyMap<string, ReadonlySet<string>>} Graph files to the files that they import */

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Tests, and what only tests use. @param {string} path */
export function isTesting(path) {
  return (
    path.endsWith(".test.ts") || /(^|\/)testing(\/|\.ts$)/.test(path) || /(^|\/)contract\.ts$/.test(path)
  );
}

/** @returns {Map<string, string>} every TypeScript file of src/ by its path in it */
export function readTree() {
  const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .sort();
  return new Map(paths.map((path) => [path, readFileSync(join(root, "src", path), "utf8")]));
}

/**
 * @param {string} path inside src/
 * @param {string} text
 * @returns {{ program: import("oxc-parser").Program, imports: Import[] }} imports in the order of their lines; the program is made when it is asked for
 */
export function parse(path, text) {
  const parsed = parseSync(path, text, { lang: "ts", preserveParens: false });
  const { staticImports, staticExports, dynamicImports } = parsed.module;
  const lineOf = lineFinder(text);
  /** @type {Import[]} */
  const imports = [];
  /** @param {string} specifier @param {number} start @param {Import["kind"]} kind @param {readonly (string | null)[]} names */
  const add = (specifier, start, kind, names) => {
    const target = specifier.startsWith(".")
      ? posix.normalize(posix.join(posix.dirname(path), specifier))
      : undefined;
    imports.push({
      specifier,
      target,
      line: lineOf(start),
      kind,
      names: names.filter((name) => name !== null),
    });
  };
  // `import { type A }` still loads its module
  const kindAt = (/** @type {number} */ start, /** @type {{ isType: boolean }[]} */ entries) =>
    entries.some(({ isType }) => isType) && /^\w+\s+type\b/.test(text.slice(start, start + 30))
      ? "type"
      : "value";
  for (const { moduleRequest, start, entries } of staticImports) {
    const names = entries.map(({ importName }) => importName.name);
    add(moduleRequest.value, start, kindAt(start, entries), names);
  }
  for (const { start, entries } of staticExports) {
    const [first] = entries;
    const names = entries.map(({ importName }) => importName.name);
    // `export { a }` of what was imported names that import again
    if (first?.moduleRequest && first.moduleRequest.start > first.start)
      add(first.moduleRequest.value, start, kindAt(start, entries), names);
  }
  for (const { moduleRequest, start } of dynamicImports) {
    const word = /^["'](.*)["']$/.exec(text.slice(moduleRequest.start, moduleRequest.end));
    if (word?.[1]) add(word[1], start, "dynamic", []);
  }
  return {
    get program() {
      return parsed.program;
    },
    imports: imports.sort((a, b) => a.line - b.line),
  };
}

/** @param {string} text @returns {(offset: number) => number} the line of a place in it, from 1 */
export function lineFinder(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/**
 * Files that reach each other, by Tarjan's algorithm; largest first, single files left out.
 * @param {Graph} graph
 * @returns {string[][]}
 */
export function circlesOf(graph) {
  const [index, low, onStack] = [new Map(), new Map(), new Set()];
  /** @type {string[]} */
  const stack = [];
  /** @type {string[][]} */
  const circles = [];
  /** @param {string} path */
  const visit = (path) => {
    index.set(path, index.size);
    low.set(path, index.get(path));
    stack.push(path);
    onStack.add(path);
    for (const next of graph.get(path) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (onStack.has(next)) low.set(path, Math.min(low.get(path), low.get(next)));
    }
    if (low.get(path) !== index.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    for (const each of circle) onStack.delete(each);
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const path of graph.keys()) if (!index.has(path)) visit(path);
  return circles.sort((a, b) => b.length - a.length);
}

/**
 * All files that some files need, themselves included: what must be read to be sure of them.
 * @param {Graph} graph
 * @param {readonly string[]} from
 */
export function radiusOf(graph, ...from) {
  const found = new Set(from.filter((path) => graph.has(path)));
  for (const path of found) for (const next of graph.get(path) ?? []) if (graph.has(next)) found.add(next);
  return [...found].sort();
}
