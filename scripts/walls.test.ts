import { expect, it } from "vitest";
import { circlesOf, radiusOf } from "./graph.mjs";
import { measure, readSource } from "./walls.mjs";

const graph = (edges: Record<string, string[]>) =>
  new Map(Object.entries(edges).map(([path, targets]) => [path, new Set(targets)]));

it("circlesOf() finds the files that reach each other, largest first", () => {
  const edges = { a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d", "f"], f: [] };
  expect(circlesOf(graph(edges))).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
});

it("radiusOf() is the file and all that it needs", () => {
  expect(radiusOf(graph({ a: ["b"], b: ["c"], c: [], d: ["a"] }), "a")).toEqual(["a", "b", "c"]);
});

it("readSource() sees imports of types and dynamic ones, functions and exports", () => {
  const text = [
    `import type { A } from "./a.ts"; import { e } from "./e.ts";`,
    `const b = async () => (await import("../b.ts")).thing;`,
    `export interface C { readonly a: A }`,
    `export function d(one: number, two: number, three: number, four: number): number {`,
    `  return one + two + three + four;`,
    `}`,
    ``,
  ].join("\n");
  const source = readSource("room/x.ts", text);
  expect([...source.imports]).toEqual(["room/a.ts", "room/e.ts", "b.ts"]);
  expect([...source.loaded]).toEqual(["room/e.ts"]);
  expect([...source.words]).toEqual(["A", "e", "thing"]);
  expect(source.exported.map(({ name, isType }) => [name, isType])).toEqual([
    ["C", true],
    ["d", false],
  ]);
  expect(source.routines.find(({ name }) => name === "d")).toMatchObject({
    line: 4,
    lines: 3,
    parameters: 4,
  });
  expect(source.lines).toBe(6);
});

it("measure() counts what each line of the table says, and lists it", () => {
  const texts = {
    "cli/command/process/ps.ts": `import { draw } from "../../draw.ts";\nexport const ps = draw;\n`,
    "cli/draw.ts": `export const draw = 1;\nexport const unused = 2;\n`,
    "lib/a.ts": `export type Place = 1;\n`,
    "lib/b.ts": `export type Place = 2;\n`,
    "lib/c.ts": `export type Place = 3;\n`,
    "lib/c.test.ts": `import { ps } from "../cli/command/process/ps.ts";\n`,
  };
  const measures = measure(new Map(Object.entries(texts)), "Place");
  const found = Object.fromEntries(measures.map(({ name, value }) => [name, value]));
  expect(found).toMatchObject({ circle: 0, ps: 2, types: 1, lines: 7, lonely: 0, exports: 1, folder: 4 });
  expect(measures.find(({ name }) => name === "exports")?.list()).toEqual(["src/cli/draw.ts:2 unused"]);
});
