/**
 * What the journal keeps of an agent at its spawn, beside the record of the spawn itself, so that a later daemon can bring it
 * back. No environment and no secrets: of an MCP server only its name, for the rest is read again from the agent file.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { BudgetLimits } from "../../abi/budget.ts";
import { Fault } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { KeptAbove } from "../../kernel/account/kept-account.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { JournalDraft, JournalRecord, RecordOwner } from "../../kernel/ports/journal.ts";
import type { Making } from "../../kernel/process/body.ts";
import type { ProcessSeed } from "../../kernel/process/process-seed.ts";
import { STDIN, STDOUT } from "../../kernel/process/spawn/stdio.ts";
import type { KeptRights } from "./kept-rights.ts";

/** The body of `process.state`, version 2. The system prompt is a `ctx.record` of its own: each record has its bound. */
export interface KeptState extends Pick<ProcessSeed, "roots" | "onParentExit"> {
  /** Its words are in the system prompt; null: general mode. */
  readonly agent: Pick<AgentInfo, "manifest" | "allowedDevices"> | null;
  /** The MCP servers of the agent file, by name. */
  readonly servers: readonly string[];
  readonly timeoutMs: number;
  readonly session: RecordOwner;
  /** It had an fd 0, an fd 1. */
  readonly hasInput: boolean;
  readonly hasOutput: boolean;
  /** Its session had a client who could answer: a later daemon does not spend that person's money unasked. */
  readonly isInteractive: boolean;
  /** It waits for the next message of a person. */
  readonly isSession: boolean;
  /** Of a session: whose message the intent is; "" nobody's. */
  readonly client: string;
  /** A fork of what an agent had started: no person has chosen how its servers are reached. */
  readonly isOfAgent?: true;
}

/** The body of `process.spawned` of an agent. */
export interface SpawnedBody extends KeptAbove, KeptRights {
  readonly ppid: number;
  readonly kind: ProcessKind;
  readonly intent: string;
  readonly agent: string | null;
  readonly skills: readonly string[];
  readonly cwd: string;
  readonly maxSteps: number;
  /** Tokens; 0: no limit of its own. */
  readonly budget: number;
  /** All limits of its own, where there are more than that. */
  readonly limits?: BudgetLimits;
  /** Of agents above it; absent: 0. */
  readonly depth?: number;
  /** Wall clock, ms. */
  readonly createdAt: number;
  readonly model: string;
  readonly modelDevice: string;
  /** Of the client that asked for it; absent: it gave its request no key. */
  readonly request?: RequestMark;
}

type Draft = Pick<JournalDraft, "kind" | "body" | "v">;

/**
 * Nothing for one that is not brought back: a supervised child, whose supervisor does not come back; one that spends from a
 * limit that ends with the daemon; one whose words are too many for a record.
 */
export function keepState(making: Making): readonly Draft[] {
  const { core, parent, proc } = making;
  const { session, account } = proc.seed;
  const isOwned = account.limited().every(({ owner }) => owner !== null);
  if (parent.seed.kind === "supervisor" || session.owner === null || !isOwned) return [];
  const state: Draft = { kind: "process.state", v: 2, body: stateOf(making, session.owner) };
  const drafts = [state, ...systemPrompt(core.contexts.prompt(proc.ctxId).systemPrompt)];
  proc.past.keep(drafts.every(fits));
  return proc.past.isRestorable ? drafts : [];
}

/** Of whatever version. One before the second did not say who could answer: it waits for a person. INTERNAL: not known here. */
export function keptState({ v, body, lsn }: Pick<JournalRecord, "v" | "body" | "lsn">): KeptState {
  if (v === 2) return body as KeptState;
  if (v === 1) {
    const since = { isInteractive: true, isSession: false, client: "" };
    return { ...(body as Omit<KeptState, keyof typeof since>), ...since };
  }
  const message = `record ${lsn} (process.state) has version ${v}, which is not known here`;
  throw new Fault({ code: "INTERNAL", message });
}

/** Without its instructions and skills: they are in the system prompt. */
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
  const servers = agent?.manifest.mcp.map(({ name }) => name) ?? [];
  return {
    agent:
      agent === null
        ? null
        : { manifest: { ...agent.manifest, mcp: [] }, allowedDevices: agent.allowedDevices },
    servers,
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

function systemPrompt(text: string): Draft[] {
  return text === "" ? [] : [{ kind: "ctx.record", v: 1, body: { system_prompt: text } }];
}

function fits({ body }: Draft): boolean {
  return Buffer.byteLength(JSON.stringify(body)) <= LIMITS.messageChars;
}
