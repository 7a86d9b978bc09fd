/** The protocol of a program under /bin: one JSON object in, one result out. */
import type { ErrorCode } from "./errno.ts";

/** An image or document for the model. `data`: base64. */
export interface MediaPart {
  readonly type: "image" | "document";
  /** `image/png`, `application/pdf` */
  readonly media_type: string;
  readonly data: string;
}

type ContentPart = { readonly type: "text"; readonly text: string } | MediaPart;

export interface ToolResult {
  ok: boolean;
  content: ContentPart[];
  /** Typed per tool, for user interfaces; the model reads only content. */
  meta?: Record<string, unknown>;
  error?: { code: ErrorCode; message: string; hint?: string; reason?: string };
  /** The whole text is stored at `path` (under /var/out); "": it was not stored. */
  truncated?: { shown_chars: number; total_chars: number; path: string };
}

/** The progress of a call; plain data, its shape depends on the tool. */
export type Progress = Readonly<Record<string, unknown>>;

/** The progress of a running command. */
export interface CommandProgress {
  /** Its last lines. */
  readonly output: string;
  readonly output_path: string;
  readonly elapsed_time_seconds: number;
  readonly total_lines: number;
  readonly total_bytes: number;
  readonly is_incomplete: boolean;
}

/** Lines read from a tool: progress frames while it runs, at most one a second, then one result, end. */
export type ToolFrame =
  | { readonly type: "progress"; readonly [key: string]: unknown }
  | { readonly type: "result"; readonly result: ToolResult };

export function isText(part: ContentPart): part is Extract<ContentPart, { type: "text" }> {
  return part.type === "text";
}

export function isMedia(part: { readonly type: string }): part is MediaPart {
  return part.type === "image" || part.type === "document";
}

/** Names of published agent files and rules that resolve to ours everywhere. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  Read: "view",
  Edit: "edit",
  MultiEdit: "multi_edit",
  Write: "write",
  LS: "ls",
  Glob: "glob",
  Grep: "grep",
  Bash: "bash",
  WebFetch: "fetch",
  WebSearch: "web_search",
  TodoWrite: "todo",
  TaskCreate: "task_create",
  TaskGet: "task_get",
  TaskList: "task_list",
  TaskUpdate: "task_update",
  TaskOutput: "job_output",
  BashOutput: "job_output",
  TaskStop: "job_kill",
  KillBash: "job_kill",
  KillShell: "job_kill",
  AskUserQuestion: "ask_user",
  NotebookEdit: "notebook_edit",
  NotebookRead: "view",
  LSP: "lsp_diagnostics",
  Skill: "skill",
  SlashCommand: "skill",
  Agent: "agent",
  Task: "agent",
  Sleep: "sleep",
  EnterPlanMode: "plan_enter",
  ExitPlanMode: "plan_exit",
  ToolSearch: "tool_search",
  SendMessage: "send",
  TeamCreate: "team_create",
  TeamDelete: "team_delete",
};

export function canonicalToolName(name: string): string {
  return Object.hasOwn(TOOL_ALIASES, name) ? (TOOL_ALIASES[name] as string) : name;
}

/** `mcp__server` and `mcp__server__*` cover all tools of that server, `mcp__*` the tools of all servers. */
export function coversTool(wide: string, name: string): boolean {
  const base = wide.replace(/__\*$/, "");
  if (name === wide || name === base) return true;
  return (base === "mcp" || base.startsWith("mcp__")) && name.startsWith(`${base}__`);
}
