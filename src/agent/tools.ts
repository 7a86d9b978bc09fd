/** The tools that a process is offered. */
import { codeOf } from "../abi/errors.ts";
import type { ToolSpec } from "../abi/llm.ts";
import type { ProgramContext } from "../abi/program.ts";
import { canonicalToolName } from "../abi/tool.ts";
import { mountedTools } from "./mounted-tools.ts";

/** Without an allow-list in the agent file. */
export const DEFAULT_TOOLS: readonly string[] = ["bash", "edit", "glob", "grep", "ls", "view", "write"];

export interface OfferedTools {
  /** By name; equal bytes for the life of the process. */
  readonly specs: readonly ToolSpec[];
  /** Canonical name to: may it overlap with its neighbours? */
  readonly parallel: ReadonlyMap<string, boolean>;
  /** Name to path, of those that are no programs under /bin. */
  readonly files?: ReadonlyMap<string, string>;
}

/**
 * Those named that are mounted, then those of the servers of its agent file. What a process may not use is refused by the gate
 * when it is called.
 */
export async function offeredTools(context: ProgramContext): Promise<OfferedTools> {
  const named = context.agent?.manifest.tools ?? null;
  const names = new Set((named ?? DEFAULT_TOOLS).filter(isProgram).map(canonicalToolName));
  const specs: ToolSpec[] = [];
  const parallel = new Map<string, boolean>();
  for (const name of [...names].sort()) {
    const tool = isToolName(name) ? await findTool(context, name) : undefined;
    if (tool === undefined) {
      if (named !== null) context.log("warn", `tool not available: ${name}`);
      continue;
    }
    specs.push({ name, description: tool.description, inputSchema: tool.inputSchema });
    parallel.set(name, tool.parallel);
  }
  const files = new Map<string, string>();
  for (const { spec, path, parallel: mayOverlap } of await mountedTools(context)) {
    specs.push(spec);
    parallel.set(spec.name, mayOverlap);
    files.set(spec.name, path);
  }
  return { specs, parallel, files };
}

function isProgram(name: string): boolean {
  return !name.startsWith("mcp__");
}

/** A name is one path segment below /bin and nothing else. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name);
}

async function findTool({ sys, signal }: ProgramContext, name: string) {
  signal.throwIfAborted();
  try {
    return (await sys.stat(`/bin/${name}`)).tool;
  } catch (error) {
    signal.throwIfAborted();
    if (codeOf(error) === "CANCELLED") throw error;
    return undefined;
  }
}
