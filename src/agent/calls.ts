/** The tool calls of one reply: each gets exactly one result, in call order, whatever happens. */
import { isBadInput } from "../abi/llm.ts";
import type { ProgramContext } from "../abi/program.ts";
import { canonicalToolName } from "../abi/tool.ts";
import type { ToolCall } from "./decide.ts";
import { type CallResult, callTool, failure, NOT_STARTED } from "./tool-call.ts";
import { isToolName, type OfferedTools } from "./tools.ts";

const MAX_PARALLEL = 10;

/** Neighbours that may overlap run together, others alone and in order. Never rejects for an abort. */
export async function runCalls(
  context: ProgramContext,
  tools: OfferedTools,
  calls: readonly ToolCall[],
): Promise<CallResult[]> {
  const results: CallResult[] = [];
  for (const batch of batches(calls, tools)) {
    await context.waitIfPaused().catch(() => undefined); // rejects when the process ends: the signal tells
    results.push(...(await Promise.all(batch.map((call) => runCall(context, tools, call)))));
  }
  return results;
}

export function batches(calls: readonly ToolCall[], tools: OfferedTools): ToolCall[][] {
  const mayOverlap = (call: ToolCall) => tools.parallel.get(canonicalToolName(call.name)) === true;
  const batches: ToolCall[][] = [];
  for (const call of calls) {
    const last = batches.at(-1);
    const first = last?.[0];
    const joins = first !== undefined && mayOverlap(first) && mayOverlap(call);
    if (last !== undefined && joins && last.length < MAX_PARALLEL) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

async function runCall(context: ProgramContext, tools: OfferedTools, call: ToolCall): Promise<CallResult> {
  if (context.signal.aborted) return NOT_STARTED;
  const name = canonicalToolName(call.name);
  if (!tools.parallel.has(name)) return failure("NOT_FOUND", await noSuchTool(context, tools, call.name));
  if (isBadInput(call.input)) {
    return failure(
      "INVALID",
      `${name}: the arguments are not valid JSON`,
      "Send the call again with valid JSON.",
    );
  }
  if (typeof call.input !== "object" || call.input === null || Array.isArray(call.input)) {
    return failure("INVALID", `${name}: the arguments must be one JSON object`);
  }
  return callTool(context, name, call.input);
}

/** The device knows similar names; for one that is mounted but not offered, the offered ones are told. */
async function noSuchTool({ sys }: ProgramContext, tools: OfferedTools, name: string): Promise<string> {
  const offered = tools.specs.map((spec) => spec.name).join(", ");
  const text = `tool not found: ${name.slice(0, 64)}. Tools here: ${offered === "" ? "none" : offered}`;
  if (!isToolName(name)) return text;
  return sys.stat(`/bin/${name}`).then(
    () => text,
    (error: unknown) => {
      const told = error instanceof Error ? error.message : "";
      return told.startsWith("tool not found:") ? told : text;
    },
  );
}
