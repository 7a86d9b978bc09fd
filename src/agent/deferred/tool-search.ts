/** A call of `tool_search`: searches all deferred tools. */
import type { Sys } from "../../abi/sys.ts";
import { type CallResult, failure } from "../program/tool-call.ts";
import type { DeferredTools } from "./deferred-tools.ts";
import { search } from "./query.ts";
import { DEFAULT_RESULTS, MAX_QUERY_CHARS, MAX_RESULTS, TOOL_SEARCH } from "./specs.ts";

/** Rejects only on an abort. */
export async function callToolSearch(sys: Sys, tools: DeferredTools, input: object): Promise<CallResult> {
  const asked = parse(input);
  if (typeof asked === "string") return failed(sys, "", { message: `tool_search: ${asked}` });
  const { query: about } = asked;
  const stock = await tools.stock(sys);
  const found = search(stock, about, asked.limit, tools.setting.weights);
  if (found.kind === "invalid") return failed(sys, about, found);
  const facts = { count: { n: found.names.length, of: "tool" } } as const;
  sys.called({ tool: TOOL_SEARCH.name, about, facts });
  return { content: found.text, isError: false };
}

function failed(sys: Sys, about: string, { message, hint }: { message: string; hint?: string }): CallResult {
  sys.called({ tool: TOOL_SEARCH.name, about, error: message });
  return failure("INVALID", message, hint);
}

/** Returns the checked arguments, or a text that says what is wrong with them. */
function parse(input: object): { query: string; limit: number } | string {
  const { query, limit, ...others } = input as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown key ${JSON.stringify(unknown)}. Known: query, limit`;
  if (typeof query !== "string" || query.trim() === "") return "query is required";
  if (query.length > MAX_QUERY_CHARS) return `query has over ${MAX_QUERY_CHARS} characters`;
  const count = limit === undefined || limit === null ? DEFAULT_RESULTS : Number(limit);
  if (!Number.isInteger(count) || count < 1 || count > MAX_RESULTS)
    return `limit must be 1 to ${MAX_RESULTS}`;
  return { query, limit: count };
}
