/** Queries of `tool_search` and their answers, as text that suits every model driver. Pure. */

import { canonicalToolName } from "../../abi/tool.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import type { Entry } from "./entry.ts";
import type { RankIndex, Weights } from "./rank.ts";
import { termsOf } from "./terms.ts";

export interface Stock {
  readonly entries: readonly Entry[];
  readonly index: RankIndex;
  /** The names of tools that are already sent with every request. */
  readonly loaded: ReadonlySet<string>;
  /** The names of the mounted servers. */
  readonly servers: readonly string[];
}

type QueryOutcome =
  | { readonly kind: "text"; readonly text: string; readonly names: readonly string[] }
  | { readonly kind: "invalid"; readonly message: string; readonly hint?: string };

export function search(stock: Stock, query: string, limit: number, weights: Weights): QueryOutcome {
  const select = /^\s*select:(.*)$/is.exec(query)?.[1];
  if (select !== undefined) return selected(stock, select);
  const explored = /^\s*discover:(.*)$/is.exec(query)?.[1];
  return ranked(stock, explored ?? query, limit, weights);
}

function selected({ entries, loaded, servers }: Stock, list: string): QueryOutcome {
  const names = [
    ...new Set(
      list
        .split(/[\s,]+/)
        .filter((name) => name !== "")
        .map(canonicalToolName),
    ),
  ];
  if (names.length === 0) return { kind: "invalid", message: "select: names no tool" };
  const here = names.find((name) => loaded.has(name));
  if (here !== undefined) return { kind: "invalid", message: `${here} is already loaded: call it directly` };
  const named = new Map(names.map((name) => [name, entriesOf(entries, name)]));
  const found = [...new Set([...named.values()].flat())];
  const missing = names.filter((name) => named.get(name)?.length === 0);
  const all = entries.map(({ name }) => name);
  const lines = missing.map((name) => {
    const server = servers.find((each) => `mcp__${each}` === name);
    if (server !== undefined) return `the MCP server ${server} has no tools that can be called now`;
    const near = nearNames(name, all, 3).slice(0, 3);
    return `no such tool: ${name.slice(0, 64)}${near.length === 0 ? "" : `. Similar: ${near.join(", ")}`}`;
  });
  return answer(found, lines);
}

/** The tool of this name, or the first tools of the server it names. */
function entriesOf(entries: readonly Entry[], name: string): readonly Entry[] {
  const exact = entries.find((entry) => entry.name === name);
  if (exact !== undefined) return [exact];
  const server = /^mcp__([A-Za-z0-9_-]+?)(?:__\*?)?$/.exec(name)?.[1];
  return server === undefined
    ? []
    : entries.filter((entry) => entry.server === server).slice(0, MAX_OF_SERVER);
}

const MAX_OF_SERVER = 20;

function ranked(stock: Stock, text: string, limit: number, weights: Weights): QueryOutcome {
  const { entries, index } = stock;
  const whole = canonicalToolName(text.trim());
  if (stock.loaded.has(whole))
    return { kind: "invalid", message: `${whole} is already loaded: call it directly` };
  const named = entriesOf(entries, whole);
  if (named.length > 0) return answer(named);
  const silent = stock.servers.find((each) => `mcp__${each}` === whole);
  if (silent !== undefined) return selected(stock, whole);
  const required = [...text.matchAll(/(?:^|\s)\+(\S+)/g)].flatMap(([, word = ""]) => termsOf(word));
  const terms = termsOf(text);
  if (terms.length === 0)
    return {
      kind: "invalid",
      message: "the query has no word to look for",
      hint: 'For example "notebook edit"',
    };
  const found = index.rank(terms, weights, required).slice(0, limit);
  return found.length === 0 ? nothing(stock) : answer(found.map(({ entry }) => entry));
}

function nothing({ servers }: Stock): QueryOutcome {
  const mounted =
    servers.length === 0 ? "No MCP server is mounted." : `Mounted servers: ${servers.join(", ")}.`;
  return { kind: "text", text: `No tool fits. ${mounted}`, names: [] };
}

const HEAD = "Call these with tool_call {tool, params}:";

function answer(found: readonly Entry[], notes: readonly string[] = []): QueryOutcome {
  const parts = found.map(
    ({ name, description, inputSchema }) => `${name}: ${description}\nparams: ${JSON.stringify(inputSchema)}`,
  );
  const text = [...(parts.length > 0 ? [HEAD, ...parts] : []), ...notes].join("\n\n");
  return { kind: "text", text, names: found.map(({ name }) => name) };
}
