/** The one result of a call. A failure is data: what failed, what is true now, what to try next. */
import { codeOf, Fault, messageOf } from "../abi/errors.ts";
import type { ToolResult } from "../abi/tool.ts";
import { endLine, fitBudget } from "./budget.ts";
import type { Outcome, RunContext, Tool } from "./tool.ts";

type Failure = NonNullable<ToolResult["error"]>;

export async function toResult(tool: Tool, outcome: Outcome, context: RunContext): Promise<ToolResult> {
  const { text, truncated } = await fitBudget(tool, outcome, context);
  const last = outcome.error === undefined ? outcome.status : failureText(outcome.error);
  return {
    ok: outcome.error === undefined,
    content: [
      { type: "text", text: last === undefined ? text : `${endLine(text)}${last}` },
      ...(outcome.media ?? []),
    ],
    ...(outcome.meta && { meta: outcome.meta }),
    ...(outcome.error && { error: outcome.error }),
    ...(truncated && { truncated }),
  };
}

/** What was thrown, as a result. Anything but a documented error is a bug and counts as INTERNAL. */
export function failureResult(error: unknown): ToolResult {
  const hint = error instanceof Fault ? error.hint : undefined;
  const failed: Failure = { code: codeOf(error), message: messageOf(error), ...(hint && { hint }) };
  return { ok: false, content: [{ type: "text", text: failureText(failed) }], error: failed };
}

function failureText(failed: Failure): string {
  const line = `Error [${failed.code}]: ${failed.message}`;
  return failed.hint === undefined ? line : `${line}\n${failed.hint}`;
}
