/** Tools that are programs under /bin, as `stat` of their files describes them. */
import type { ToolStat } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { ToolSpec } from "../../abi/llm.ts";
import type { Sys } from "../../abi/sys.ts";
import { canonicalToolName } from "../../abi/tool.ts";

interface ToolProgram {
  readonly spec: ToolSpec;
  readonly parallel: boolean;
  readonly hint: string;
}

/** From name to program, sorted by name. A missing program that an agent file names is logged as a warning. */
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

/** undefined: it does not exist, or the process may not use it. */
export async function findProgram(sys: Sys, name: string): Promise<ToolProgram | undefined> {
  sys.ending.throwIfAborted();
  try {
    const { tool } = await sys.stat(`/bin/${name}`);
    if (tool === undefined) return undefined;
    return programOf(name, tool);
  } catch (error) {
    sys.ending.throwIfAborted();
    if (codeOf(error) === "CANCELLED") throw error;
    return undefined;
  }
}

/** Of each file once: a list of the same specs is estimated, spelled and summed up once for all processes. */
const made = new WeakMap<ToolStat, ToolProgram>();

function programOf(name: string, tool: ToolStat): ToolProgram {
  const known = made.get(tool);
  if (known?.spec.name === name) return known;
  const { description, inputSchema, parallel, hint = "" } = tool;
  const program = { spec: { name, description, inputSchema }, parallel, hint };
  made.set(tool, program);
  return program;
}
