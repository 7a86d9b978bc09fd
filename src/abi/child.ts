/** A child agent, as the process that started it knows it. */
import type { Pid, ProcUuid } from "./ids.ts";
import type { ExitStatus } from "./process.ts";
import type { Worktree } from "./worktree.ts";

/** Given at the spawn and recorded with it. */
export interface ChildMark {
  /** The call of the model that started it. */
  readonly call: string;
  /** Three to five words for people. */
  readonly title: string;
  /** By which it is written to, beside its pid and its lasting name. */
  readonly name?: string;
  /** Nobody waits for it: its end is told by a message. */
  readonly isBackground?: true;
  /** It is a member of this team: the group whose lead is its parent. */
  readonly team?: string;
  /** A member that changes nothing before its lead has approved its plan. */
  readonly plansFirst?: true;
}

/** The team that a process leads, as it keeps it. */
export interface Team {
  readonly name: string;
  readonly description: string;
  /** Wall clock, ms. */
  readonly createdAt: number;
}

/** The name of that value. */
export const TEAM = "team";
/** The agent that gives all work to others; its session has a scratchpad. */
export const COORDINATOR = "coordinator";
/** The agent that it gives work to. */
export const WORKER = "worker";

/** How a process ended. */
export interface Ended {
  readonly agentId: string;
  readonly exit: ExitStatus;
  /** "": there is none. */
  readonly result: string;
  readonly tokensUsed: number;
  readonly elapsedMs: number;
  /** Calls of tools that it made. Absent: none, or an earlier version did not record them. */
  readonly toolUses?: number;
  /** The one that was made for it; absent: none, or it is known to be gone. */
  readonly worktree?: Worktree;
}

/** Characters of a result in a notice. */
const NOTICE_CHARS = 30_000;

/** The end of a background child, as its parent reads it. No text in it can close its tags. */
export function noticeText({ call, title }: ChildMark, ended: Ended): string {
  const { agentId, exit, result, tokensUsed, toolUses = 0, elapsedMs, worktree } = ended;
  const uses = `<tool_uses>${toolUses}</tool_uses>`;
  const status = exit.kind === "killed" ? "killed" : exit.code === 0 ? "completed" : "failed";
  const why = status === "completed" ? "" : `: ${exit.reason.replace(/^killed: /, "")}`;
  const more = result.length > NOTICE_CHARS ? `\n[cut; all of it is in ${outputOf(agentId)}]` : "";
  return [
    "<task-notification>",
    `<task-id>${agentId}</task-id>${call === "" ? "" : `<tool-use-id>${escaped(call)}</tool-use-id>`}`,
    `<status>${status}</status><summary>${escaped(`Agent "${title}" ${status}${why}`)}</summary>`,
    `<result>${escaped(result.slice(0, NOTICE_CHARS).toWellFormed())}${more}</result>`,
    `<usage><total_tokens>${tokensUsed}</total_tokens>${uses}<duration_ms>${Math.round(elapsedMs)}</duration_ms></usage>`,
    ...(worktree === undefined ? [] : [treeTags(worktree)]),
    "</task-notification>",
  ].join("\n");
}

/** What such a notice says, for whoever shows it. */
export interface EndNotice {
  readonly status: string;
  readonly summary: string;
  readonly result: string;
  readonly tokens: number;
  readonly elapsedMs: number;
}

/** No text in it has a bracket. */
const NOTICE = new RegExp(
  [
    "^<task-notification>\\n.*\\n<status>([^<]*)</status><summary>([^<]*)</summary>\\n<result>([^<]*)</result>",
    "\\n<usage><total_tokens>(\\d+)</total_tokens>(?:<tool_uses>\\d+</tool_uses>)?<duration_ms>(\\d+)</duration_ms></usage>",
    "(?:\\n<worktree>.*)?\\n</task-notification>$",
  ].join(""),
);

/** undefined: another text. */
export function readNotice(text: string): EndNotice | undefined {
  const found = NOTICE.exec(text);
  if (found === null) return undefined;
  const [, status = "", summary = "", result = "", tokens, elapsedMs] = found;
  return {
    ...{ status, summary: unescaped(summary), result: unescaped(result) },
    ...{ tokens: Number(tokens), elapsedMs: Number(elapsedMs) },
  };
}

/** An end is told before git is asked what has changed. */
function treeTags({ path, branch }: Worktree): string {
  const place = `<path>${escaped(path)}</path><branch>${escaped(branch)}</branch>`;
  return `<worktree>${place}It is gone if nothing has changed in it.</worktree>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** `agent-` and twelve hex digits: the name of an agent that is never used again, not even after a restart. */
export function agentIdOf(uuid: ProcUuid): string {
  return `agent-${uuid.replaceAll("-", "").slice(0, 12)}`;
}

/** What the agent with that name has said, for itself and those above it. */
export function outputOf(agentId: string): string {
  return `/var/out/${agentId}`;
}

/** The beginning of the uuid of the agent with that name. */
export function uuidHeadOf(agentId: string): string {
  return agentId.replace(/^agent-(.{8})/, "$1-");
}

/** The tag of what every fork is told before its directive. */
export const FORK_TAG = "fork-boilerplate";

/** The tags of messages of processes, and of what Crux says in the user's role. */
const FRAMES = ["agent-message", "crux-note", "task-notification", FORK_TAG];
/** Of what Crux adds in the user's role beside those. */
const ADDED = ["available-deferred-tools", "tool_discovery", "system-reminder"];
const FRAMED = new RegExp(`^\\s*<(?:${[...FRAMES, ...ADDED].join("|")})\\b`);

/** Whether a text in the user's role is that of another process, or of Crux: the user has said none of it. */
export function isFramed(text: string): boolean {
  return FRAMED.test(text);
}

/** What an agent has said, as a model reads it. */
export function agentMessage(from: Pid, words: string): string {
  return `<agent-message from="pid ${from}">${unframed(words)}</agent-message>`;
}

/** Made when it is first used: it takes longer than all else that a client loads of this file. */
let tags: RegExp | undefined;

/** Also with characters in between that nobody sees, and with wide brackets. */
function tagPattern(): RegExp {
  const hidden = "\\p{Cf}*";
  const spelled = FRAMES.map((name) => [...name].join(hidden)).join("|");
  return new RegExp(`[<\\uFE64\\uFF1C]([\\s\\p{Cf}]*/?[\\s\\p{Cf}]*(?:${spelled}))`, "giu");
}

/** A text that others have written, in which nothing can pose as a message of a process, or as a notice or note of Crux. */
export function unframed(text: string): string {
  tags ??= tagPattern();
  return text.replace(tags, "&lt;$1");
}
