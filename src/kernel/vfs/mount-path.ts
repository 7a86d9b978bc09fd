/** Where MCP servers are mounted: /mnt/mcp/<name>, and /mnt/mcp/<pid>-<server> for servers of an agent file. */
import type { Pid } from "../../abi/ids.ts";
import { isServerName } from "../../abi/mcp.ts";
import { parsePath } from "./path.ts";

const BASE = "/mnt/mcp";

interface MountPlace {
  readonly path: string;
  /** The name of the server in effects and rules. */
  readonly server: string;
}

/** The place, or an error message. */
export function parseMountPath(path: string): MountPlace | string {
  const [mnt, mcp, name, ...rest] = parsePath(path)?.segments ?? [];
  if (mnt !== "mnt" || mcp !== "mcp" || name === undefined || rest.length > 0)
    return `not a place for a server: ${path.slice(0, 256)} (mount it at ${BASE}/<name>)`;
  if (!isServerName(name)) return notAName(name);
  if (/^\d+-/.test(name)) return `names that begin with a pid are kept for agent files: ${name}`;
  return { path: `${BASE}/${name}`, server: name };
}

export function notAName(name: string): string {
  const rule = "letters, digits, _ and -, at most 64; no __, and no _ at the end";
  return `not a name for a server: ${JSON.stringify(name.slice(0, 80))} (${rule})`;
}

export function agentMountPath(pid: Pid, name: string): string {
  return `${BASE}/${pid}-${name}`;
}

/** The path as it is mounted: without double or final slashes. */
export function canonicalMount(path: string): string {
  const parsed = parsePath(path);
  return parsed === undefined ? path : `/${parsed.segments.join("/")}`;
}
