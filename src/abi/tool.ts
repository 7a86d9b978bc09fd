/** What a program under /bin gets and gives: one JSON object in, one result out. */
import type { ErrorCode } from "./errno.ts";

export interface ToolResult {
  ok: boolean;
  content: { type: "text"; text: string }[];
  /** Typed per tool, for user interfaces; the model reads only content. */
  meta?: Record<string, unknown>;
  error?: { code: ErrorCode; message: string; hint?: string; reason?: string };
  /** The whole is at `path` (under /var/out); "" where it was not kept apart. */
  truncated?: { shown_chars: number; total_chars: number; path: string };
}

/** Lines read from a tool: progress frames while it runs, one result, end. */
export type ToolFrame =
  | {
      type: "progress";
      output: string;
      elapsed_time_seconds: number;
      total_lines: number;
      total_bytes: number;
      is_incomplete: boolean;
    }
  | { type: "result"; result: ToolResult };

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
  TaskStop: "job_kill",
  AskUserQuestion: "ask_user",
  NotebookEdit: "notebook_edit",
  LSP: "lsp_diagnostics",
  Skill: "skill",
  Agent: "agent",
  Task: "agent",
  Sleep: "sleep",
  EnterPlanMode: "plan_enter",
  ExitPlanMode: "plan_exit",
  ToolSearch: "tool_search",
  SendMessage: "send",
};

export function canonicalToolName(name: string): string {
  return Object.hasOwn(TOOL_ALIASES, name) ? (TOOL_ALIASES[name] as string) : name;
}
