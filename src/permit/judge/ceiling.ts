/**
 * The ceiling: devices, tools, hosts and directories that a process did not get at its spawn stay closed to it,
 * whatever rules and mode say.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Rights } from "../../abi/rights.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import { matchesHost, parseHostName } from "../rules/host-name.ts";
import { isGivenBy, isInside, isInsideAny, shown } from "../rules/paths.ts";
import { type Case, ownNotes } from "./case.ts";
import { deny, type Verdict } from "./verdict.ts";

const DEVICES = { read: "/dev/fs", write: "/dev/fs", exec: "/dev/shell" } as const;
const WRITERS = ["edit", "write", "multi_edit", "notebook_edit", "bash"];
/** Effects that a list of tools limits, whatever produced them; the others belong to the process itself. */
const BY_TOOL: ReadonlySet<Effect["kind"]> = new Set(["read", "write", "exec", "network", "mcp", "unknown"]);

/** null: the call is within the ceiling. */
export function judgeCeiling({ subject, tool }: Case, effects: readonly Effect[]): Verdict | null {
  return beyondDevices(subject, effects) ?? beyondTools(subject, tool, effects);
}

function beyondDevices({ allowedDevices, rights }: Subject, effects: readonly Effect[]): Verdict | null {
  const lists = [allowedDevices, rights?.devices ?? null].filter((list) => list !== null);
  for (const { kind } of effects) {
    const device = kind === "read" || kind === "write" || kind === "exec" ? DEVICES[kind] : undefined;
    if (device === undefined || lists.every((list) => isInsideAny(list, device))) continue;
    const message = `device not allowed: ${device}`;
    return deny("ceiling", message, message);
  }
  return null;
}

function beyondTools({ rights }: Subject, tool: string, effects: readonly Effect[]): Verdict | null {
  const tools = rights?.tools ?? null;
  if (tools === null || !effects.some(({ kind }) => BY_TOOL.has(kind))) return null;
  if (isForNotes(rights, tool)) return null;
  if (mayUse(tools, tool, effects)) return null;
  const message = `tool not allowed here: ${shown(tool)}`;
  return deny("ceiling", message, message);
}

/** A bare device may be used if the tool that does the same is listed; reads by it are left to the path rules. */
function mayUse(tools: readonly string[], tool: string, effects: readonly Effect[]): boolean {
  if (isListed(tools, tool)) return true;
  if (tool === "shell") return isListed(tools, "bash");
  if (tool !== "fs") return false;
  return effects.every(
    ({ kind }) => kind === "read" || (kind === "write" && WRITERS.some((name) => isListed(tools, name))),
  );
}

/** Compares canonical names; `mcp__s` and `mcp__s__*` mean all tools of a server, `mcp__*` those of all servers. */
export function isListed(tools: readonly string[], tool: string): boolean {
  return tools.some((written) => {
    const name = canonicalToolName(written).replace(/__\*$/, "");
    if (name === tool || name === "*") return true;
    return (name === "mcp" || name.startsWith("mcp__")) && tool.startsWith(`${name}__`);
  });
}

function isForNotes(rights: Rights | undefined, tool: string): boolean {
  return rights?.notes?.tools.includes(tool) === true;
}

/** A tool that the agent has for its own notes alone reaches nothing else. null: it does not, or the tool is not one. */
export function beyondNotes(c: Case, path: string, real: string): Verdict | null {
  if (!isForNotes(c.subject.rights, c.tool)) return null;
  const own = ownNotes(c);
  if ([path, real].every((form) => isGivenBy(own, form))) return null;
  const message = `${shown(path)} is not one of its own notes, and ${c.tool} is for these alone`;
  return deny("ceiling", message, `Permission denied: ${message}`);
}

/** `real`: the path with its links resolved. null: the process may work there. */
export function beyondRoots(c: Case, path: string, real: string): Verdict | null {
  const roots = c.subject.rights?.roots ?? null;
  if (roots === null || isGivenBy([...roots, ...c.free], real)) return null;
  const message = `${shown(path)} lies outside the directories that this process was given`;
  return deny("ceiling", message, `Permission denied: ${message}`);
}

/**
 * A process in a worktree of its own reaches nothing of the other checkout, by no path and no link; the git directory it
 * may only read. null: no wall stands before the path.
 */
export function beyondWalls(
  c: Case,
  { access, subtree, path }: Touch,
  forms: readonly string[],
): Verdict | null {
  for (const { dir, open, gitDir } of c.subject.rights?.walls ?? []) {
    const isOpen = (form: string) => isInside(open, form) || (access === "read" && isInside(gitDir, form));
    const isShut = forms.some((form) => isInside(dir, form) && !isOpen(form));
    const holds = subtree === true && forms.some((form) => isInside(form, dir));
    if (!isShut && !holds) continue;
    const message = `${shown(path)} ${holds ? "holds" : "belongs to"} the checkout that this worktree is apart from`;
    return deny("ceiling", message, `Permission denied: ${message}; work in ${shown(open)}`);
  }
  return null;
}

/** Memory is off for the process: no path leads into its folders. null: it is not, or the path leads elsewhere. */
export function beyondMemory(c: Case, { path, subtree }: Touch, forms: readonly string[]): Verdict | null {
  if (c.subject.rights?.noMemory !== true) return null;
  const { memory } = c.places;
  const isShut = forms.some(
    (form) =>
      memory.some((dir) => isInside(dir, form)) ||
      (subtree === true && memory.some((dir) => isInside(form, dir))),
  );
  if (!isShut) return null;
  const message = `${shown(path)} is memory, which the user has turned off for this process`;
  return deny("ceiling", message, `Permission denied: ${message}`);
}

interface Touch {
  readonly access: "read" | "write";
  readonly path: string;
  /** With all that is below it. */
  readonly subtree?: boolean | undefined;
}

/** null: the process may reach the host. */
export function beyondHosts(rights: Rights | undefined, host: string): Verdict | null {
  const hosts = rights?.hosts ?? null;
  if (hosts === null) return null;
  const isGiven = hosts.some((written) => {
    const pattern = parseHostName(written);
    return pattern !== null && matchesHost(pattern, host);
  });
  if (isGiven) return null;
  const message = `host not allowed here: ${shown(host)}`;
  return deny("ceiling", message, message);
}
