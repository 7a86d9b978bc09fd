/** The names by which models and rules call the tools of an MCP server: `mcp__<server>__<tool>`. Made only here. */
import { createHash } from "node:crypto";

const MAX_NAME = 64;
const CUT_NAME = 55;

/**
 * Maps the server's tool names to `mcp__<server>__<tool>`. Characters that are not allowed become `_`; a name that is
 * then too long, or not unique, ends in a hash of the original.
 */
export function callNames(
  server: string,
  tools: readonly { readonly name: string }[],
): ReadonlyMap<string, string> {
  const plain = tools.map(({ name }) => `mcp__${server}__${name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    tools.map(({ name }, i) => {
      const candidate = plain[i] ?? "";
      const isFine = candidate.length <= MAX_NAME && counts.get(candidate) === 1;
      return [name, isFine ? candidate : `${candidate.slice(0, CUT_NAME)}_${hashOf(server, name)}`];
    }),
  );
}

function hashOf(server: string, name: string): string {
  return createHash("sha256").update(`${server}\0${name}`).digest("hex").slice(0, 8);
}
