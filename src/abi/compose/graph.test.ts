import fc from "fast-check";
import { expect, test } from "vitest";
import { type Edge, findCycle } from "./graph.ts";

const graph = fc.integer({ min: 1, max: 8 }).chain((size) => {
  const nodes = Array.from({ length: size }, (_, at) => `n${at}`);
  const node = fc.constantFrom(...nodes, "stranger");
  return fc.record({
    nodes: fc.constant(nodes),
    edges: fc.array(fc.record({ from: node, to: node }), { maxLength: 12 }),
  });
});

/** Takes away what waits for nothing, until nothing more goes: what is left waits for itself. */
function hasCycle(nodes: readonly string[], edges: readonly Edge[]): boolean {
  let left = nodes;
  for (;;) {
    const next = left.filter((node) => edges.some(({ from, to }) => from === node && left.includes(to)));
    if (next.length === left.length) return left.length > 0;
    left = next;
  }
}

test("findCycle() finds one exactly where there is one, and it is a way round", () => {
  fc.assert(
    fc.property(graph, ({ nodes, edges }) => {
      const cycle = findCycle(nodes, edges);
      expect(cycle !== undefined).toBe(hasCycle(nodes, edges));
      for (const [at, edge] of (cycle ?? []).entries()) {
        expect(edges).toContain(edge);
        expect(edge.to).toBe(cycle![(at + 1) % cycle!.length]!.from);
      }
      expect(new Set(cycle?.map(({ from }) => from)).size).toBe(cycle?.length ?? 0);
    }),
    { numRuns: 20_000 },
  );
});

test("findCycle() does not mind a long chain, or many ways to one node", () => {
  const nodes = Array.from({ length: 1_000 }, (_, at) => `n${at}`);
  const edges = nodes.flatMap((from, at) => nodes.slice(at + 1, at + 40).map((to) => ({ from, to })));
  expect(findCycle(nodes, edges)).toBeUndefined();
  expect(findCycle(nodes, [...edges, { from: "n999", to: "n0" }])?.[0]).toEqual({ from: "n999", to: "n0" });
});
