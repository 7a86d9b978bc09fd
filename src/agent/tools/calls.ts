/** One tool call: found among the tools, run where they are, or answered with what is wrong with it. */
import { codeOf } from "../../abi/errors.ts";
import { isBadInput } from "../../abi/llm.ts";
import type { ToolCall } from "../../abi/loop.ts";
import type { Sys } from "../../abi/sys.ts";
import type { DeferredTools } from "../deferred/deferred-tools.ts";
import type { OfferedTools } from "../deferred/offered.ts";
import { TOOL_SEARCH } from "../deferred/specs.ts";
import { targetOf } from "../deferred/target.ts";
import { callToolSearch } from "../deferred/tool-search.ts";
import { callMounted } from "../program/mounted-call.ts";
import { isToolName } from "../program/programs.ts";
import { type CallResult, callTool, failure, malformed, NOT_STARTED } from "../program/tool-call.ts";

/** The answer to a call at which its reply was cut off at the output limit: it is not run. */
export function cutOff(sys: Sys, { name }: Pick<ToolCall, "name"> = { name: "" }): CallResult {
  const why = "the call was cut off at the output limit";
  sys.called({ tool: name || "?", about: "", error: why });
  return malformed(`${name}: ${why}`, "Send it again in smaller pieces: a long file in several edits.");
}

/** Also resolves when the process ends meanwhile: check `sys.ending` afterwards. */
export function untilResumed(sys: Sys): Promise<void> {
  return sys.waitIfPaused().catch(() => undefined);
}

/** How many neighbouring calls may overlap: the sizes of their batches, in order. */
export function batchSizes(calls: readonly ToolCall[], tools: OfferedTools): readonly number[] {
  const sizes: number[] = [];
  let doesLast = false;
  for (const call of calls) {
    const does = mayOverlap(call, tools);
    if (does && doesLast) sizes.push((sizes.pop() ?? 0) + 1);
    else sizes.push(1);
    doesLast = does;
  }
  return sizes;
}

/** Whether the call may run beside others that may. */
export function mayOverlap(call: ToolCall, tools: OfferedTools): boolean {
  const { name } = targetOf(call);
  return tools.parallel.get(name) ?? tools.deferred?.isParallel(name) ?? false;
}

/** The tool whose call lives on in a process of its own: it is told which call it is. */
const AGENT = "agent";

/** The name that a call gives to an agent: of two calls with one name, the second waits for the first. */
export function namedAgent(call: ToolCall): string | undefined {
  const { name: tool, input } = targetOf(call);
  const { name } = (input ?? {}) as { readonly name?: unknown };
  return tool === AGENT && typeof name === "string" ? name : undefined;
}

/** `isAgain`: an earlier daemon had this call of the same reply, and may have begun it. */
export async function runCall(
  sys: Sys,
  tools: OfferedTools,
  { isAgain = false, ...call }: ToolCall & { readonly isAgain?: boolean },
): Promise<CallResult> {
  const again = isAgain ? { again: true } : {};
  if (sys.ending.aborted) return NOT_STARTED;
  const { name, input, problem } = targetOf(call);
  // checked again directly before the call
  const place = loadedPlace(tools, name) ?? (await deferredPlace(sys, tools, name));
  if (sys.ending.aborted) return NOT_STARTED;
  // the kernel does not see calls that are answered here, so they are reported to it
  const unsent = (error: string, result: CallResult): CallResult => {
    sys.called({ tool: name || "?", about: "", error });
    return result;
  };
  const notACall = (why: string, hint?: string): CallResult => {
    const words = name === "" || problem !== undefined ? why : `${name}: ${why}`;
    return unsent(why, malformed(words, hint));
  };
  if (name === "") return notACall("a call without the name of a tool", `Tools here: ${namesOf(tools)}`);
  if (place === undefined && problem === undefined)
    return unsent("tool not found", await noSuchTool(sys, tools, name));
  if (isBadInput(input))
    return notACall("the arguments are not valid JSON", "Send the call again with valid JSON.");
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return notACall("the arguments must be one JSON object");
  if (place === undefined || problem !== undefined) return notACall(problem ?? name);
  if (place.kind === "search") return callToolSearch(sys, place.tools, input);
  return place.kind === "program"
    ? callTool(sys, place.name, place.name === AGENT ? { ...input, tool_use_id: call.id, ...again } : input)
    : callMounted(sys, place, input);
}

type Place =
  | { readonly kind: "program"; readonly name: string }
  | { readonly kind: "mounted"; readonly name: string; readonly path: string }
  | { readonly kind: "search"; readonly tools: DeferredTools };

/** The place of a tool that is sent with every request; undefined: it is not such a tool. */
function loadedPlace({ parallel, files, deferred }: OfferedTools, name: string): Place | undefined {
  if (deferred !== undefined && name === TOOL_SEARCH.name) return { kind: "search", tools: deferred };
  const path = files?.get(name);
  if (path !== undefined) return { kind: "mounted", name, path };
  return parallel.has(name) ? { kind: "program", name } : undefined;
}

async function deferredPlace(sys: Sys, { deferred }: OfferedTools, name: string): Promise<Place | undefined> {
  const entry = await deferred?.find(sys, name);
  if (entry === undefined) return undefined;
  return entry.server === ""
    ? { kind: "program", name: entry.name }
    : { kind: "mounted", name: entry.name, path: entry.path };
}

function namesOf({ specs }: OfferedTools): string {
  return specs.map(({ name }) => name).join(", ") || "none";
}

/**
 * The error of the device names similar or disabled tools; if the tool exists but is not offered, the offered ones are
 * named.
 */
async function noSuchTool(sys: Sys, tools: OfferedTools, name: string): Promise<CallResult> {
  const served = tools.deferred?.serverNamed(name);
  if (served !== undefined)
    return failure(
      "INVALID",
      `${name} is an MCP server: call one of its tools`,
      `tool_search ${name} lists them.`,
    );
  const text = `tool not found: ${name.slice(0, 64)}. Tools here: ${namesOf(tools)}`;
  const unknown = failure("NOT_FOUND", text);
  if (!isToolName(name)) return unknown;
  return sys.stat(`/bin/${name}`).then(
    () => unknown,
    (error: unknown) => {
      const told = error instanceof Error ? error.message : "";
      if (told.startsWith("tool not found:")) return failure("NOT_FOUND", told);
      return codeOf(error) === "UNAVAILABLE" ? failure("UNAVAILABLE", told) : unknown;
    },
  );
}
