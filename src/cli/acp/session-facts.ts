/** What an editor shows of a session beside its events: its plan, what it has used, its title, its past, its commands. */
import { realpath } from "node:fs/promises";
import type { AvailableCommand, PlanEntry, SessionUpdate, UsageUpdate } from "@agentclientprotocol/sdk";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { WireHistoryItem, WireRunFailure } from "../../abi/methods/session.ts";
import { isWithin } from "../../lib/path.ts";
import { isHouseNote } from "../screen/chat-lines.ts";
import { type Ground, serverName } from "./openings.ts";
import { callShape, innerCall, isRecord, parsed } from "./tool-call.ts";

export type Ask = <M extends MethodName>(method: M, payload: Params<M>) => Promise<Result<M>>;

const STATUSES = ["pending", "in_progress", "completed"] as const;

/** The whole list of steps after a call that may have changed it; undefined: it was another call. */
export async function planOf(
  { name, input }: { readonly name: string; readonly input: unknown },
  ask: Ask,
  list: string,
): Promise<PlanEntry[] | undefined> {
  const inner = isRecord(input) ? innerCall(name, input) : undefined;
  if (inner !== undefined) return planOf(inner, ask, list);
  if (name === "todo") return isRecord(input) ? entries(input.todos) : undefined;
  if (name !== "task_create" && name !== "task_update") return undefined;
  return tasksOf(ask, list);
}

/** The list of steps as it stands. */
export async function tasksOf(ask: Ask, list: string): Promise<PlanEntry[]> {
  const { tasks = [] } = await ask("task.list", { list });
  return tasks.map(({ subject: content, status }) => ({ content, status, priority: "medium" }));
}

function entries(todos: unknown): PlanEntry[] | undefined {
  if (!Array.isArray(todos)) return undefined;
  return todos.filter(isRecord).flatMap(({ content, status }) => {
    const known = STATUSES.find((each) => each === status);
    return typeof content === "string" && known !== undefined
      ? [{ content, status: known, priority: "medium" as const }]
      : [];
  });
}

/** undefined: no model was asked yet. */
export async function usageOf(ask: Ask, pid: number): Promise<UsageUpdate | undefined> {
  const { used, window: size } = await ask("context.stat", { pid, brief: true });
  if (size === 0) return undefined;
  const { accounts } = await ask("budget.get", { pid });
  const amount = accounts.find((account) => account.pid === pid)?.spent.usd ?? 0;
  return { used, size, ...(amount === 0 ? {} : { cost: { amount, currency: "USD" } }) };
}

export async function titleOf(
  ask: Ask,
  { uuid, cwd }: { readonly uuid: string; readonly cwd: string },
): Promise<string | undefined> {
  const { sessions } = await ask("session.list", { cwd });
  const title = sessions.find((session) => session.uuid === uuid)?.title ?? "";
  return title === "" ? undefined : title;
}

/** Messages of one page, and of all: older ones are in the journal, but not in the editor. */
const PAGE = 200;
const MAX_MESSAGES = 5_000;

/** What was said before the editor opened the session, in the order of the journal. */
export async function pastOf(ask: Ask, pid: number, cwd: string): Promise<SessionUpdate[]> {
  const pages: WireHistoryItem[][] = [];
  let before: string | undefined;
  for (let count = 0; count < MAX_MESSAGES; count += PAGE) {
    const page = await ask("session.history", {
      pid,
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    pages.push(page.messages);
    before = page.next;
    if (before === undefined) break;
  }
  return pages
    .reverse()
    .flat()
    .flatMap((item) => updatesOf(item, cwd));
}

function updatesOf({ role, text, calls, end, seq }: WireHistoryItem, cwd: string): SessionUpdate[] {
  const content = { type: "text" as const, text };
  const sessionUpdate = role === "user" ? ("user_message_chunk" as const) : ("agent_message_chunk" as const);
  const isSaid = text !== "" && !(role === "user" && isHouseNote(text));
  const said: SessionUpdate[] = !isSaid ? [] : [{ sessionUpdate, content }];
  const called = calls.map((line, i): SessionUpdate => {
    const toolCallId = `past-${seq}-${i}`;
    return { sessionUpdate: "tool_call", toolCallId, status: "completed", ...pastCall(line, cwd) };
  });
  return [...said, ...called, ...(end === undefined ? [] : [endUpdate(end, role === "assistant")])];
}

/** The words that the editor has shown as the failure of its prompt. It joins messages of one role, so a blank line stands between. */
function endUpdate({ message, hint }: WireRunFailure, isJoined: boolean): SessionUpdate {
  const words = `Error: ${message}${hint === undefined ? "" : `\n${hint}`}`;
  const content = { type: "text" as const, text: isJoined ? `\n\n${words}` : words };
  return { sessionUpdate: "agent_message_chunk", content };
}

/** A call as while it ran. Of a long one only the beginning of its arguments is known: it is its title. */
function pastCall(line: string, cwd: string): ReturnType<typeof callShape> {
  const [, name = line, json = ""] = /^(\S+) (.*)$/s.exec(line) ?? [];
  const input = parsed(json);
  return input === undefined
    ? { ...callShape(name, undefined, cwd), title: line }
    : callShape(name, input, cwd);
}

/** What an editor names for a session that began without it, in words; undefined: the session has all of it. */
export async function lackOf(
  { dirs, mcp_servers }: Pick<Result<"session.open">, "dirs" | "mcp_servers">,
  { mcpServers = [], additionalDirectories = [] }: Ground,
): Promise<string | undefined> {
  const servers = mcpServers.filter(({ name }) => !mcp_servers.includes(serverName(name)));
  const folders: string[] = [];
  for (const dir of additionalDirectories) {
    const real = await realpath(dir).catch(() => dir);
    if (!dirs.some((root) => isWithin(root, real))) folders.push(dir);
  }
  const lacking = [
    ...servers.map(({ name }) => `the MCP server \`${name}\``),
    ...folders.map((dir) => `the folder \`${dir}\``),
  ];
  if (lacking.length === 0) return undefined;
  return `This session does not have ${lacking.join(", ")}: another client is in it, or it works. Load it again when it does nothing.`;
}

/** The skills that a prompt may begin with, `/name`. */
export async function commandsOf(ask: Ask, cwd: string): Promise<AvailableCommand[]> {
  const { definitions } = await ask("skills.check", { cwd });
  return definitions
    .filter(
      ({ shadowedBy, issues }) => shadowedBy === "" && issues.every((each) => each.severity !== "error"),
    )
    .map(({ name, description }) => ({ name, description, input: { hint: "what it is to do" } }));
}
