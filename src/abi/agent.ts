/** Agent and skill files as they are after loading (formats: kernel reference, agent and skill files). */
import type { Budget } from "./budget.ts";
import type { Label } from "./labels.ts";
import type { Effort } from "./llm.ts";
import type { McpServer } from "./mcp.ts";
import type { AgentColor, PermissionMode } from "./process.ts";
import type { OwnNotes } from "./rights.ts";

export interface AgentModels {
  /** Driver: claude, anthropic, openai, script … */
  readonly provider?: string;
  readonly preferred?: string;
  /** The models that answer when the preferred one cannot, in order. */
  readonly fallback?: readonly string[];
}

export interface AgentManifest {
  readonly name: string;
  readonly description: string;
  readonly models: AgentModels;
  /** How much its model is asked to think; a number is the most tokens for thinking. */
  readonly effort?: Effort | number;
  /** In tokens; 0: unlimited. */
  readonly contextBudget: number;
  /** Limits other than tokens, for the process and all its descendants; a spawn cannot exceed them. */
  readonly budget?: Omit<Budget, "tokens">;
  /** 0: DEFAULT_MAX_STEPS. */
  readonly maxSteps: number;
  readonly skills: readonly string[];
  /** The texts of these skills are part of its instructions; absent: it is told what they are for. */
  readonly preload?: true;
  /** Stands before the first message of the user, and before the task of a child. */
  readonly initialPrompt?: string;
  /** Texts that every view of its conversation keeps; absent: none. */
  readonly pins?: readonly string[];
  /** Where a call starts it, nobody waits for it. */
  readonly background?: true;
  /** Where a call starts it, it works in a git worktree of its own. */
  readonly isolation?: "worktree";
  /** Allow-list of tool names; null: the default set. */
  readonly tools: readonly string[] | null;
  /** Tools that it is not offered and may not call, by canonical name; tools of MCP servers as `mcp__…`. */
  readonly disallowedTools?: readonly string[];
  /** The two tool lists apply only to this process, not to the processes it starts. */
  readonly delegate?: boolean;
  /** It keeps notes of its own: of the project, or of the user for all projects. */
  readonly memory?: OwnNotes["scope"];
  /** The highest mode of its process; the parent's mode is a limit, too. */
  readonly permissionMode?: PermissionMode;
  /** The label sources whose data may leave the machine when the user starts this agent. */
  readonly outward?: readonly Label["source"][];
  /** In which its name is shown. */
  readonly color?: AgentColor;
  /** Servers mounted for each process that runs it. */
  readonly mcp: readonly McpServer[];
  /** Patterns of names (`*`): of each a server must offer tools before it begins, whoever mounted that. */
  readonly requiredServers?: readonly string[];
}

const NOTE_TOOLS: readonly string[] = ["edit", "view", "write"];

/** The tools that an agent has for its own notes alone, beside those that its file lists. */
export function noteTools({
  memory,
  tools,
  disallowedTools = [],
}: Pick<AgentManifest, "memory" | "tools" | "disallowedTools">): readonly string[] {
  if (memory === undefined || tools === null) return [];
  return NOTE_TOOLS.filter((name) => !tools.includes(name) && !disallowedTools.includes(name));
}

export interface SkillManifest {
  readonly name: string;
  readonly description: string;
  /** The text of `allowed-tools`, unparsed. */
  readonly allowedTools: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Skill {
  readonly manifest: SkillManifest;
  readonly body: string;
}

/** The shipped agent that is used by default; "none" means no agent file. */
export const DEFAULT_AGENT = "general-purpose";

/** Agents as JSON, by name: settings as in an agent file, and `prompt`, the instructions. */
export type AgentMap = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** MCP servers that a client gives one process. */
export interface OwnServers {
  /** By name: entries as in `.mcp.json`. */
  readonly entries: AgentMap;
  /** The process has no others. */
  readonly isStrict: boolean;
}

/** For whom an agent is looked up. */
export interface AgentSeeker {
  readonly cwd: string;
  /** The variables for MCP server entries. */
  readonly env: Readonly<Record<string, string>>;
  /** Agents that the user gave with the run. */
  readonly agents?: AgentMap;
  /** Servers that the user gave with the run. */
  readonly ownServers?: OwnServers;
  /** It is a coordinator: it is told what its workers can do. */
  readonly givesWork?: true;
  /** A call of its model may fork it, if the settings allow that. */
  readonly mayFork?: true;
}

/** One line of the list of agents that a model is given. */
export interface AgentLine extends Pick<AgentManifest, "name" | "description"> {
  /** Its tools, those of MCP servers as `mcp__<server>`: for whoever gives it its tasks. Absent: not told. */
  readonly tools?: readonly string[];
}

/** A program of kind agent. Plain data: the kernel journals it at spawn. */
export interface AgentInfo {
  readonly manifest: AgentManifest;
  readonly instructions: string;
  readonly skills: readonly Skill[];
  /** The instructions, then the texts of preloaded skills, joined by a blank line. */
  readonly systemPrompt: string;
  /** Union over the skills that name devices; null: no restriction. */
  readonly allowedDevices: readonly string[] | null;
}
