/** The two tools that the loop itself provides: one finds tools, the other calls a tool that was found. */
import type { ToolSpec } from "../../abi/llm.ts";

export const MAX_QUERY_CHARS = 400;
export const MAX_RESULTS = 20;
export const DEFAULT_RESULTS = 5;

export const TOOL_SEARCH: ToolSpec = {
  name: "tool_search",
  description:
    "Finds tools that are not listed here. Words (`+word` must occur), `select:name,name` or `discover:what`. Call what it finds with tool_call.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string" },
      limit: { type: "integer" },
    },
    required: ["query"],
  },
};

export const TOOL_CALL: ToolSpec = {
  name: "tool_call",
  description: "Calls a tool that tool_search found.",
  inputSchema: {
    type: "object",
    properties: { tool: { type: "string" }, params: { type: "object" } },
    required: ["tool", "params"],
  },
};
