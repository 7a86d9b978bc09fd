/** Determines the tools a process is offered: those sent with every request, and those the model can search for. */
import type { ForkPrefix } from "../../abi/fork.ts";
import type { ToolSpec } from "../../abi/llm.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { offer } from "../deferred/offer.ts";
import type { OfferedTools } from "../deferred/offered.ts";
import type { DeferredSetting } from "../deferred/setting.ts";
import { mountedTools } from "../program/mounted-tools.ts";
import { namedPrograms } from "../program/programs.ts";

/** The default tools before deferred tools existed. Histories of that time are still replayed with them. */
export const FIRST_TOOLS: readonly string[] = ["bash", "edit", "glob", "grep", "ls", "view", "write"];

/** Rights are not considered here: the gate refuses a call that the process may not make. */
export function offeredTools(
  sys: Sys,
  start: ProgramStart,
  setting?: DeferredSetting,
): Promise<OfferedTools> {
  return start.toolset === 2 ? offer(sys, start, setting) : firstTools(sys, start);
}

/** Its calls run one after another. */
export function toolsOfFork({ tools, tidies }: ForkPrefix): OfferedTools {
  const known = tidies === undefined ? tools : tools.filter(({ name }) => READERS.has(name));
  return { specs: tools, parallel: new Map(known.map(({ name }) => [name, false])) };
}

/** What a fork that tidies notes calls; its program alone writes. */
const READERS: ReadonlySet<string> = new Set(["glob", "grep", "ls", "view"]);

/** The named programs that exist, then the tools of the agent file's MCP servers; all are sent with every request. */
async function firstTools(sys: Sys, start: ProgramStart): Promise<OfferedTools> {
  const named = start.agent?.manifest.tools ?? null;
  const programs = await namedPrograms(sys, named, FIRST_TOOLS);
  const specs: ToolSpec[] = [...programs.values()].map(({ spec }) => spec);
  const parallel = new Map([...programs].map(([name, program]) => [name, program.parallel]));
  const files = new Map<string, string>();
  for (const { spec, path, parallel: mayOverlap } of await mountedTools(sys, start)) {
    specs.push(spec);
    parallel.set(spec.name, mayOverlap);
    files.set(spec.name, path);
  }
  return { specs, parallel, files };
}
