/** A call of a tool as an editor shows it: its kind, title, the places it touches, and the change it makes. Pure. */
import { resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";

/** Tools that are not listed are of the kind "other". */
const KINDS: Readonly<Record<string, ToolKind>> = {
  view: "read",
  ls: "read",
  edit: "edit",
  multi_edit: "edit",
  notebook_edit: "edit",
  write: "edit",
  grep: "search",
  glob: "search",
  tool_search: "search",
  bash: "execute",
  job_output: "execute",
  job_kill: "execute",
  process_spawn: "execute",
  process_read: "execute",
  process_write: "execute",
  process_control: "execute",
  git_status: "execute",
  fetch: "fetch",
  web_search: "fetch",
  todo: "think",
  task_create: "think",
  task_update: "think",
  task_list: "think",
  plan_enter: "switch_mode",
  plan_exit: "switch_mode",
};

/** The arguments of which the first that is there names what a call is about. */
const SUBJECTS = [
  "command",
  "file_path",
  "notebook_path",
  "path",
  "pattern",
  "url",
  "query",
  "subject",
  "skill",
];
const TITLE_CHARS = 200;

type Input = Readonly<Record<string, unknown>>;
type CallShape = Pick<ToolCall, "title" | "kind" | "locations" | "content" | "rawInput">;

/** `input` undefined: the arguments still come. */
export function callShape(name: string, input: unknown, cwd: string): CallShape {
  const args = isRecord(input) ? input : {};
  const inner = innerCall(name, args);
  if (inner !== undefined) return { ...callShape(inner.name, inner.input, cwd), rawInput: input };
  return {
    title: titleOf(name, args),
    kind: KINDS[name] ?? "other",
    locations: placesOf(args, cwd),
    content: changesOf(name, args, cwd),
    ...(input === undefined ? {} : { rawInput: input }),
  };
}

/** `tool_call` runs the tool that it names. */
export function innerCall(name: string, { tool, params = {} }: Input) {
  return name === "tool_call" && typeof tool === "string" ? { name: tool, input: params } : undefined;
}

function titleOf(name: string, args: Input): string {
  const subject = SUBJECTS.map((key) => args[key]).find((value) => typeof value === "string" && value !== "");
  if (typeof subject !== "string") return name;
  const [line = ""] = subject.trim().split("\n", 1);
  const title = name === "bash" ? line : `${name} ${line}`;
  return title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS).toWellFormed()}…` : title;
}

function placesOf({ file_path, notebook_path, path, offset }: Input, cwd: string): ToolCallLocation[] {
  const place = [file_path, notebook_path, path].find((value) => typeof value === "string" && value !== "");
  if (typeof place !== "string") return [];
  const line = typeof offset === "number" && offset > 0 ? { line: Math.trunc(offset) } : {};
  return [{ path: resolve(cwd, place), ...line }];
}

function changesOf(name: string, args: Input, cwd: string): ToolCallContent[] {
  const { file_path: path, content, edits } = args;
  if (typeof path !== "string") return [];
  const at = resolve(cwd, path);
  if (name === "write" && typeof content === "string")
    return [{ type: "diff", path: at, oldText: null, newText: content }];
  const all = name === "edit" ? [args] : name === "multi_edit" && Array.isArray(edits) ? edits : [];
  return all
    .filter(isRecord)
    .flatMap(({ old_string: before, new_string: after }) =>
      typeof before === "string" && typeof after === "string"
        ? [{ type: "diff" as const, path: at, oldText: before, newText: after }]
        : [],
    );
}

export function isRecord(value: unknown): value is Input {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** undefined: it is not JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json === "" ? "{}" : json);
  } catch {
    return undefined;
  }
}
