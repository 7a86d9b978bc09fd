/** For tests: the calls of one reply that is whole. */
import type { ToolCall } from "../../abi/loop.ts";
import type { Sys } from "../../abi/sys.ts";
import type { OfferedTools } from "../deferred/offered.ts";
import type { CallResult } from "../program/tool-call.ts";
import { Executor } from "./executor.ts";

export function runCalls(
  sys: Sys,
  tools: OfferedTools,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const executor = new Executor({ sys, tools });
  for (const each of calls) executor.submit(each);
  return executor.results();
}
