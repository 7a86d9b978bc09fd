/** Result budgets: a text that does not fit is stored whole under /var/out, and the result names its path. */
import { codeOf } from "../abi/errors.ts";
import type { ToolResult } from "../abi/tool.ts";
import { writeOutput } from "./files.ts";
import { countLines, cutEnd } from "./text.ts";
import type { Outcome, RunContext, Tool } from "./tool.ts";

const HEAD_CHARS = 8000;

interface Fitted {
  text: string;
  truncated?: NonNullable<ToolResult["truncated"]>;
}

type Limits = Pick<Tool, "overflow" | "maxResultChars">;

/** Cuts a text to the budget of its tool; it is stored whole first. */
export async function fitBudget(limits: Limits, outcome: Outcome, context: RunContext): Promise<Fitted> {
  const { text, kept } = outcome;
  const fits = text.length <= limits.maxResultChars || limits.overflow === "none";
  if (fits && kept?.isPart !== true) return { text };
  const shown = fits ? text : cut(limits, text);
  const path = kept?.path ?? (await keep(text, context));
  const total = kept?.totalChars ?? text.length;
  const counts = `${limits.overflow === "ends" ? Math.min(total, limits.maxResultChars) : shown.length} of ${total} characters`;
  const way = path === "" ? "The rest was not kept" : `All of it: view ${path}, or grep it`;
  return {
    text: `${endLine(shown)}[truncated: ${counts}. ${way}]`,
    truncated: { shown_chars: shown.length, total_chars: total, path },
  };
}

function cut(limits: Limits, text: string): string {
  return limits.overflow === "ends" ? cutEnds(text, limits.maxResultChars / 2) : cutEnd(text, HEAD_CHARS);
}

/** The first and last `half` characters, cut at line ends if possible. */
export function cutEnds(text: string, half: number): string {
  if (text.length <= 2 * half) return text;
  const head = firstLines(text, half);
  const tail = lastLines(text, half);
  const dropped = countLines(text.slice(head.length, text.length - tail.length));
  return `${endLine(head)}... [${dropped} lines truncated] ...\n${tail}`;
}

function firstLines(text: string, max: number): string {
  const newline = text.lastIndexOf("\n", max - 1);
  return newline === -1 ? cutEnd(text, max) : text.slice(0, newline + 1);
}

function lastLines(text: string, max: number): string {
  const start = text.length - max;
  const newline = text.indexOf("\n", start - 1);
  if (newline !== -1 && newline + 1 < text.length) return text.slice(newline + 1);
  const splits = /[\uDC00-\uDFFF]/.test(text.charAt(start));
  return text.slice(splits ? start + 1 : start);
}

/** The path, or "" if it could not be stored: the result then says that the rest is lost. */
async function keep(text: string, context: RunContext): Promise<string> {
  const path = `/var/out/${context.callId}`;
  try {
    await writeOutput(context, path, text);
    return path;
  } catch (error) {
    if (codeOf(error) === "CANCELLED") throw error;
    return "";
  }
}

export function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
