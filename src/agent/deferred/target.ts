/**
 * Resolves which tool a call is for. `tool_call` stands for the tool it names: permission, budget, journal and trace
 * see only that tool, so the proxy neither adds nor removes rights. Pure.
 */

import type { ToolCall } from "../../abi/loop.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { TOOL_CALL, TOOL_SEARCH } from "./specs.ts";

export interface Target {
  /** Canonical name, or a path. */
  readonly name: string;
  readonly input: unknown;
  /** Why the call is malformed; absent: it is well formed. */
  readonly problem?: string;
}

export function targetOf({ name, input }: ToolCall): Target {
  const canonical = canonicalToolName(name);
  if (canonical !== TOOL_CALL.name) return { name: canonical, input };
  if (typeof input !== "object" || input === null || Array.isArray(input)) return { name: canonical, input };
  const { tool, params = {}, ...others } = input as Record<string, unknown>;
  const wrong = (problem: string): Target => ({ name: canonical, input, problem: `tool_call: ${problem}` });
  if (typeof tool !== "string" || tool === "") return wrong("tool is required");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return wrong(`unknown key ${JSON.stringify(unknown)}. Known: tool, params`);
  if (typeof params !== "object" || params === null || Array.isArray(params))
    return wrong("params must be an object");
  const target = canonicalToolName(tool.replace(/^\/bin\//, ""));
  if (target === TOOL_CALL.name || target === TOOL_SEARCH.name)
    return wrong(`${target} cannot be called by it`);
  return { name: target, input: params };
}
