/** The devices and tools that a process may open: a ceiling that no permission rule or answer of the user lifts. */
import type { AgentInfo } from "../../../abi/agent.ts";
import type { Rights } from "../../../abi/rights.ts";
import { canonicalToolName, coversTool } from "../../../abi/tool.ts";
import { isWithin } from "../../../lib/path.ts";

/** The part of a process that is needed here. */
interface Holder {
  readonly pid: number;
  readonly seed: { readonly rights: Rights; readonly agent: AgentInfo | null };
  readonly model: { readonly device: string };
  readonly mounts: ReadonlySet<string> | null;
}

/** Always allowed: programs, its own outputs and lists, the user's terminal. What programs open is checked again. */
const ALWAYS =
  "/bin /var/out /var/tasks /var/teams /dev/todo /dev/plan /dev/worktree /dev/tty /dev/git".split(" ");
const BIN = "/bin/";

export function narrowedTo(self: Holder, mount: string, path: string): boolean {
  return mayUse(self, path) && mayOpen(self, mount, path);
}

function mayOpen(self: Holder, mount: string, path: string): boolean {
  const { devices } = self.seed.rights;
  if (devices === null || ALWAYS.some((base) => isWithin(base, mount))) return true;
  if (isWithin(self.model.device === "" ? "\0" : self.model.device, mount)) return true;
  if (self.mounts?.has(mount) === true) return true;
  if (isWithin("/proc/self", path) || isWithin(`/proc/${self.pid}`, path)) return true;
  return devices.some((allowed) => isWithin(allowed, mount));
}

/** Checks the programs under /bin. Tools of MCP servers are checked by name when they are called. */
function mayUse({ seed }: Holder, path: string): boolean {
  if (!path.startsWith(BIN)) return true;
  const name = canonicalToolName(path.slice(BIN.length).split("/")[0] ?? "");
  if (seed.rights.notes?.tools.includes(name) === true) return true;
  return toolLists(seed).every((tools) => tools.some((tool) => coversTool(tool, name)));
}

/** It may call the tools that are in each of these lists. */
export function toolLists({ agent, rights }: Holder["seed"]): (readonly string[])[] {
  const { delegate, tools: own = null } = agent?.manifest ?? {};
  return [rights.tools, delegate === true ? own : null].filter((tools) => tools !== null);
}

/** The devices that a process may pass on: its list and its own mounts. null: no restriction. */
export function devicesOf({ seed, mounts }: Pick<Holder, "seed" | "mounts">): readonly string[] | null {
  const { devices } = seed.rights;
  return devices === null ? null : [...devices, ...(mounts ?? [])];
}
