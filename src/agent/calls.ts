/** The tool calls of one reply: each gets exactly one result, in call order, whatever happens. */
import { isBadInput } from "../abi/llm.ts";
import type { ProgramContext } from "../abi/program.ts";
import { canonicalToolName } from "../abi/tool.ts";
import type { ToolCall } from "./decide.ts";
import { callMounted } from "./mounted-call.ts";
import { type CallResult, callTool, failure, NOT_STARTED } from "./tool-call.ts";
import { isToolName, type OfferedTools } from "./tools.ts";

const MAX_PARALLEL = 10;

/**
 * Neighbours that may overlap run together, others alone and in order. Those in `done` have their results; each other one is
 * told, with the index of its call, when it is there. Never rejects for an abort.
 */
export async function runCalls(
  context: ProgramContext,
  tools: OfferedTools,
  calls: readonly ToolCall[],
  done: ReadonlyMap<number, CallResult> = new Map(),
  tell: (index: number, result: CallResult) => void = () => {},
): Promise<CallResult[]> {
  const results = calls.map((_, index) => done.get(index) ?? NOT_STARTED);
  const run = async (index: number, call: ToolCall): Promise<void> => {
    const result = await runCall(context, tools, call);
    results[index] = result;
    tell(index, result);
  };
  let next = 0;
  for (const batch of batches(calls, tools)) {
    const first = next;
    next += batch.length;
    const missing = batch
      .map((call, i) => ({ call, index: first + i }))
      .filter(({ index }) => !done.has(index));
    if (missing.length === 0) continue;
    await untilResumed(context);
    await Promise.all(missing.map(({ index, call }) => run(index, call)));
  }
  return results;
}

/** Also when the process ends meanwhile: its signal tells. */
export function untilResumed(context: ProgramContext): Promise<void> {
  return context.waitIfPaused().catch(() => undefined);
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
  const path = tools.files?.get(name);
  return path === undefined
    ? callTool(context, name, call.input)
    : callMounted(context, name, path, call.input);
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
