/**
 * The state of an agent that the journal keeps at its spawn, beside the record of the spawn itself, so that a later
 * daemon can restore it. It has no environment and no secrets: only the names of MCP servers, whose settings are read
 * again from the agent file, and those servers of a client that have no secrets.
 */

import type { AgentInfo, AgentMap } from "../../abi/agent.ts";
import type { BudgetLimits } from "../../abi/budget.ts";
import type { ChildMark } from "../../abi/child.ts";
import { Fault } from "../../abi/errors.ts";
import { FORK, isInternal } from "../../abi/fork.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Effort, Thinking } from "../../abi/llm.ts";
import type { ModelPlace } from "../../abi/loop.ts";
import type { McpConfig, McpServer } from "../../abi/mcp.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import type { Worktree } from "../../abi/worktree.ts";
import { type KeptConfig, keptConfig } from "../../lib/redact/server-label.ts";
import type { KeptAbove } from "../account/kept-account.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft, JournalRecord, RecordOwner } from "../ports/journal.ts";
import type { Making } from "./body.ts";
import type { ProcessSeed } from "./process-seed.ts";
import type { KeptRights } from "./rights/kept-rights.ts";
import { messagesOfFork } from "./spawn/fork-messages.ts";
import { STDIN, STDOUT } from "./spawn/stdio.ts";

/**
 * The body of `process.state`, version 2. The system prompt is a separate `ctx.record`, as the size of a record is
 * limited.
 */
export interface KeptState extends Pick<ProcessSeed, "roots" | "onParentExit"> {
  /** The agent without its texts, which are in the system prompt; null: general mode. */
  readonly agent: Pick<AgentInfo, "manifest" | "allowedDevices"> | null;
  /** The MCP servers of the agent file, by name. */
  readonly servers: readonly string[];
  /** Those that a client gave; absent: none. */
  readonly given?: readonly KeptServer[];
  readonly timeoutMs: number;
  readonly session: RecordOwner;
  /** The process had an fd 0 (`hasInput`) or an fd 1 (`hasOutput`). */
  readonly hasInput: boolean;
  readonly hasOutput: boolean;
  /** Its session had a client to answer questions: a later daemon waits for the user before it spends money. */
  readonly isInteractive: boolean;
  /** It waits for the user's next message instead of ending. */
  readonly isSession: boolean;
  /** For a session: the client that sent the intent; "": none. */
  readonly client: string;
  /** Agents that a client gave later; absent: those of its spawn. */
  readonly agents?: AgentMap;
  /** A daemon stopped while it read its history, and a later one has put it off. */
  readonly isPutOff?: true;
  /** The only tools that its client has left it, of those of its rights; absent: all of them. By canonical name. */
  readonly tools?: readonly string[];
  /** A fork of a process that an agent started: the user has not chosen its servers. */
  readonly isOfAgent?: true;
  /** What agents have written as the first messages of those whose conversation a fork goes on with; absent: none. */
  readonly tasks?: readonly string[];
}

interface KeptServer extends KeptConfig<McpConfig>, Pick<McpServer, "name" | "alwaysLoad"> {}

/** The body of `process.spawned` of an agent. */
export interface SpawnedBody extends KeptAbove, KeptRights {
  readonly ppid: number;
  readonly kind: ProcessKind;
  readonly intent: string;
  readonly agent: string | null;
  readonly skills: readonly string[];
  readonly cwd: string;
  readonly maxSteps: number;
  /** The token limit; 0: no limit of its own. */
  readonly budget: number;
  /** All its own limits, if there are more than the token limit. */
  readonly limits?: BudgetLimits;
  /** The number of agents above it; absent: 0. */
  readonly depth?: number;
  /** Wall-clock time, ms. */
  readonly createdAt: number;
  readonly model: string;
  readonly modelDevice: string;
  readonly thinking?: Thinking;
  readonly effort?: Effort;
  /** Absent: none. */
  readonly fallbacks?: readonly ModelPlace[];
  /** Pictures that belong to the intent. */
  readonly media?: readonly MediaPart[];
  /** The request mark of the client; absent: the request had no key. */
  readonly request?: RequestMark;
  /** Absent: no call of a model started it. */
  readonly child?: ChildMark;
  /** What a fork of its parent is for. Absent: it is not one. */
  readonly fork?: string;
  /** Absent: the user gave none with the run. */
  readonly agents?: AgentMap;
  /** Absent: it works where it was started. */
  readonly worktree?: Worktree;
}

/** The first message of the user. */
export function intentMessage({ intent, media }: Pick<SpawnedBody, "intent" | "media">): ContextMessage {
  return { role: "user", content: intent, ...(media === undefined ? {} : { media }) };
}

type Draft = Pick<JournalDraft, "kind" | "body" | "v">;

/**
 * Without the state for a process that cannot be restored: a supervised child, which its supervisor restarts; a process that spends
 * from a limit that ends with the daemon; one whose texts are too large for a record.
 */
export function keepState(contexts: Pick<ContextSpaces, "prompt">, making: Making): readonly Draft[] {
  const { parent, proc } = making;
  const { session, account, fork } = proc.seed;
  // the messages that the history of its parent has not
  const own: Draft[] =
    fork === undefined ? [] : messagesOfFork(proc).map((body) => ({ kind: "ctx.record", v: 1, body }));
  // it ends with its parent and its daemon
  if (isInternal(fork?.label)) return own;
  const isOwned = account.limited().every(({ owner }) => owner !== null);
  if (parent.seed.kind === "supervisor" || session.owner === null || !isOwned) return own;
  const state: Draft = { kind: "process.state", v: 2, body: stateOf(making, session.owner) };
  if (fork !== undefined) return keepFork(making, [state, AT_START, ...own]);
  const drafts = [state, ...systemPrompt(contexts.prompt(proc.ctxId).systemPrompt)];
  proc.past.keep(drafts.every(fits));
  return proc.past.isRestorable ? drafts : [];
}

/** A fork does not go on in the reply of its parent in which it was started. */
const AT_START: Draft = { kind: "process.checkpoint", v: 1, body: { state: null } };

/** Its history begins with that of its parent, and so it comes back only where the parent does. */
function keepFork({ parent, proc }: Making, drafts: readonly Draft[]): readonly Draft[] {
  proc.past.keep(parent.past.isRestorable && drafts.every(fits));
  return proc.past.isRestorable ? drafts : drafts.filter(({ kind }) => kind !== "process.state");
}

/**
 * Reads any known version. Version 1 did not record whether a client could answer, so such a process waits for the
 * user. INTERNAL: an unknown version.
 */
export function keptState({ v, body, lsn }: Pick<JournalRecord, "v" | "body" | "lsn">): KeptState {
  if (v === 2) return body as KeptState;
  if (v === 1) {
    const since = { isInteractive: true, isSession: false, client: "" };
    return { ...(body as Omit<KeptState, keyof typeof since>), ...since };
  }
  const message = `record ${lsn} (process.state) has version ${v}, which is not known here`;
  throw new Fault({ code: "INTERNAL", message });
}

/** The agent without its instructions and skills, which are in the system prompt. */
export function agentOf({ agent }: KeptState): AgentInfo | null {
  return agent === null ? null : { ...agent, instructions: "", skills: [], systemPrompt: "" };
}

function isAnswered({ approvers }: ProcessSeed["session"]): boolean {
  return approvers.isHeard || approvers.leftMono !== null;
}

function stateOf({ parent, proc, opts }: Making, session: RecordOwner): KeptState {
  const { seed, fds } = proc;
  const { agent, roots, onParentExit } = seed;
  const canAnswer = parent.pid === PID_KERNEL ? opts.interactive === true : isAnswered(seed.session);
  // the servers of its parent are those of a fork, too
  const mcp = seed.fork?.label === FORK ? [] : (agent?.manifest.mcp ?? []);
  const given = mcp.filter(({ isGiven }) => isGiven).map(keptServer);
  return {
    agent:
      agent === null
        ? null
        : { manifest: { ...agent.manifest, mcp: [] }, allowedDevices: agent.allowedDevices },
    servers: mcp.filter(({ isGiven }) => isGiven !== true).map(({ name }) => name),
    ...(given.length === 0 ? {} : { given }),
    roots,
    onParentExit,
    timeoutMs: opts.timeoutMs ?? 0,
    session,
    hasInput: fds.has(STDIN),
    hasOutput: fds.has(STDOUT),
    isInteractive: canAnswer,
    isSession: seed.isSession === true,
    client: seed.client ?? "",
  };
}

/** As the journal keeps it: of one with secrets no configuration. */
export function keptServer({ name, config, alwaysLoad }: McpServer): KeptServer {
  return { name, ...keptConfig(config), ...(alwaysLoad === true ? { alwaysLoad } : {}) };
}

function systemPrompt(text: string): Draft[] {
  return text === "" ? [] : [{ kind: "ctx.record", v: 1, body: { system_prompt: text } }];
}

function fits({ body }: Draft): boolean {
  return Buffer.byteLength(JSON.stringify(body)) <= LIMITS.messageChars;
}
