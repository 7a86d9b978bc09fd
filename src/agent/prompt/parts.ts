/** What a request has beside the messages of its conversation, by parts, in estimated tokens. */
import type { BesidePart, Section } from "../../abi/context.ts";
import type { SystemPart, ToolSpec } from "../../abi/llm.ts";
import { Running } from "../../lib/grow/running.ts";
import { estimateTokens } from "../../lib/tokens.ts";

interface Beside {
  readonly system: readonly SystemPart[];
  readonly tools: readonly ToolSpec[];
  /** The texts of the reminder before the first message. */
  readonly sections: readonly Section[];
}

type Sums = Readonly<Partial<Record<BesidePart, number>>>;

/** Tools and sections are the same objects in each request of a process: they are counted once. */
export function besideOf({ system, tools, sections }: Beside): Partial<Record<BesidePart, number>> {
  const own = plus({}, "system", JSON.stringify(system));
  for (const sums of [offered.of(tools), told.of(sections)])
    for (const [part, tokens] of Object.entries(sums) as [BesidePart, number][])
      own[part] = (own[part] ?? 0) + tokens;
  return own;
}

const offered = new Running<ToolSpec, Sums>({}, (sums, tool) =>
  plus(sums, tool.name.startsWith("mcp__") ? "mcp" : "tools", JSON.stringify(tool)),
);
const told = new Running<Section, Sums>({}, (sums, { part, text }) => plus(sums, part, text));

function plus(sums: Sums, part: BesidePart, text: string): Partial<Record<BesidePart, number>> {
  return { ...sums, [part]: (sums[part] ?? 0) + estimateTokens(text) };
}
