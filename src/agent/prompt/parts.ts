/** What a request has beside the messages of its conversation, by parts, in estimated tokens. */
import type { BesidePart, Section } from "../../abi/context.ts";
import type { SystemPart, ToolSpec } from "../../abi/llm.ts";
import { estimateTokens } from "../../lib/tokens.ts";

interface Beside {
  readonly system: readonly SystemPart[];
  readonly tools: readonly ToolSpec[];
  /** The texts of the reminder before the first message. */
  readonly sections: readonly Section[];
}

export function besideOf({ system, tools, sections }: Beside): Partial<Record<BesidePart, number>> {
  const sums: Partial<Record<BesidePart, number>> = {};
  const add = (part: BesidePart, text: string): void => {
    sums[part] = (sums[part] ?? 0) + estimateTokens(text);
  };
  add("system", JSON.stringify(system));
  for (const tool of tools) add(tool.name.startsWith("mcp__") ? "mcp" : "tools", JSON.stringify(tool));
  for (const { part, text } of sections) add(part, text);
  return sums;
}
