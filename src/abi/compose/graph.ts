/** A dependency: `from` needs `to`. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/**
 * The first cycle in the order of `nodes` and `edges`, beginning with the edge that closes it. Edges to unknown nodes
 * are ignored.
 */
export function findCycle<E extends Edge>(
  nodes: readonly string[],
  edges: readonly E[],
): readonly E[] | undefined {
  const outgoing = new Map<string, E[]>(nodes.map((node) => [node, []]));
  for (const edge of edges) outgoing.get(edge.from)?.push(edge);
  const finished = new Set<string>();
  const way: E[] = [];
  const visit = (node: string): readonly E[] | undefined => {
    if (finished.has(node)) return undefined;
    for (const edge of outgoing.get(node) ?? []) {
      if (edge.to === node) return [edge];
      const at = way.findIndex(({ from }) => from === edge.to);
      if (at >= 0) return [edge, ...way.slice(at)];
      way.push(edge);
      const found = visit(edge.to);
      if (found !== undefined) return found;
      way.pop();
    }
    finished.add(node);
    return undefined;
  };
  for (const node of nodes) {
    const found = visit(node);
    if (found !== undefined) return found;
  }
  return undefined;
}
