/**
 * What the journal keeps of an agent at its spawn, beside the record of the spawn itself, so that a later daemon can bring it
 * back. No environment and no secrets: of an MCP server only its name, for the rest is read again from the agent file.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { LIMITS } from "../limits.ts";
import type { JournalDraft, RecordOwner } from "../ports/journal.ts";
import type { Making } from "./body.ts";
import type { Process, ProcessSeed } from "./process.ts";
import { STDIN, STDOUT } from "./stdio.ts";

/** The body of `process.state`, version 1. The system prompt is a `ctx.record` of its own: each record has its bound. */
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
}

/** Keys of the record of the spawn: which limits above its own it spends from, nearest first. */
export interface KeptAccounts {
  readonly accounts: readonly (RecordOwner & { readonly limit: number })[];
}

type Draft = Pick<JournalDraft, "kind" | "body">;

/**
 * Nothing for one that is not brought back: a supervised child, whose supervisor does not come back; one that spends from a
 * limit that ends with the daemon; one whose words are too many for a record.
 */
export function keepState({ core, parent, proc, opts }: Making): readonly Draft[] {
  const { session, account } = proc.seed;
  const isOwned = account.limited().every(({ owner }) => owner !== null);
  if (parent.seed.kind === "supervisor" || session.owner === null || !isOwned) return [];
  const state: Draft = { kind: "process.state", body: stateOf(proc, session.owner, opts.timeoutMs ?? 0) };
  const drafts = [state, ...systemPrompt(core.contexts.prompt(proc.ctxId).systemPrompt)];
  proc.isRestorable = drafts.every(fits);
  return proc.isRestorable ? drafts : [];
}

export function keptAccounts({ seed }: Process): KeptAccounts {
  const above = seed.account.limited().filter((account) => account !== seed.account);
  return {
    accounts: above.flatMap(({ owner, limit }) => (owner === null ? [] : [{ ...owner, limit }])),
  };
}

/** Without its instructions and skills: they are in the system prompt. */
export function agentOf({ agent }: KeptState): AgentInfo | null {
  return agent === null ? null : { ...agent, instructions: "", skills: [], systemPrompt: "" };
}

function stateOf({ seed, fds }: Process, session: RecordOwner, timeoutMs: number): KeptState {
  const { agent, roots, onParentExit } = seed;
  const servers = agent?.manifest.mcp.map(({ name }) => name) ?? [];
  return {
    agent:
      agent === null
        ? null
        : { manifest: { ...agent.manifest, mcp: [] }, allowedDevices: agent.allowedDevices },
    servers,
    roots,
    onParentExit,
    timeoutMs,
    session,
    hasInput: fds.has(STDIN),
    hasOutput: fds.has(STDOUT),
  };
}

function systemPrompt(text: string): Draft[] {
  return text === "" ? [] : [{ kind: "ctx.record", body: { system_prompt: text } }];
}

function fits({ body }: Draft): boolean {
  return Buffer.byteLength(JSON.stringify(body)) <= LIMITS.messageChars;
}
