/** Programs under /bin, as their files tell of them. */
import { codeOf } from "../../abi/errors.ts";
import type { ToolSpec } from "../../abi/llm.ts";
import type { Sys } from "../../abi/sys.ts";
import { canonicalToolName } from "../../abi/tool.ts";

export interface ToolProgram {
  readonly spec: ToolSpec;
  readonly parallel: boolean;
  readonly hint: string;
}

/** By name, in its order. One that an agent file names and that is not there is told of. */
export async function namedPrograms(
  sys: Sys,
  named: readonly string[] | null,
  usual: readonly string[],
): Promise<ReadonlyMap<string, ToolProgram>> {
  const names = new Set((named ?? usual).filter(isProgram).map(canonicalToolName));
  const programs = new Map<string, ToolProgram>();
  for (const name of [...names].sort()) {
    const program = isToolName(name) ? await findProgram(sys, name) : undefined;
    if (program !== undefined) programs.set(name, program);
    else if (named !== null) sys.log("warn", `tool not available: ${name}`);
  }
  return programs;
}

function isProgram(name: string): boolean {
  return !name.startsWith("mcp__");
}

/** A name is one path segment below /bin and nothing else. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name);
}

/** undefined: it is not there, or may not be used at all. */
export async function findProgram(sys: Sys, name: string): Promise<ToolProgram | undefined> {
  sys.ending.throwIfAborted();
  try {
    const { tool } = await sys.stat(`/bin/${name}`);
    if (tool === undefined) return undefined;
    const { description, inputSchema, parallel, hint = "" } = tool;
    return { spec: { name, description, inputSchema }, parallel, hint };
  } catch (error) {
    sys.ending.throwIfAborted();
    if (codeOf(error) === "CANCELLED") throw error;
    return undefined;
  }
}
