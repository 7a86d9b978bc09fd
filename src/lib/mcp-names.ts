/** What models and rules call the tools of an MCP server. One place makes the names: `mcp__<server>__<tool>`. */
import { createHash } from "node:crypto";

const MAX_NAME = 64;
const CUT_NAME = 55;

/**
 * By the server's names: what models and rules call its tools, `mcp__<server>__<tool>`. Letters that do not fit become `_`;
 * what is too long, or equal to another then, ends in a hash of the whole.
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
