/**
 * What the records of a process come to. Pure: records in, in their order. A record that cannot be understood whole is an
 * error, for what is left out would be missing from the process.
 */
import { Fault } from "../../abi/errors.ts";
import type { LogEntry } from "../../abi/events.ts";
import type { Message } from "../../abi/mail.ts";
import type { PermissionMode, ProcessKind } from "../../abi/process.ts";
import type { Restored } from "../../abi/program.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { GroupRecord } from "../ipc/groups.ts";
import { LIMITS } from "../limits.ts";
import type { JournalRecord, RecordKind } from "../ports/journal.ts";
import type { KeptAccounts, KeptState } from "./kept-state.ts";

/** The body of `process.spawned` of an agent. */
export interface SpawnedBody extends KeptAccounts {
  readonly ppid: number;
  readonly kind: ProcessKind;
  readonly intent: string;
  readonly agent: string | null;
  readonly skills: readonly string[];
  readonly cwd: string;
  readonly mode: PermissionMode;
  readonly allowedDevices: readonly string[] | null;
  readonly maxSteps: number;
  /** Tokens; 0: no limit of its own. */
  readonly budget: number;
  /** Wall clock, ms. */
  readonly createdAt: number;
  readonly model: string;
  readonly modelDevice: string;
}

type Body = Record<string, unknown>;
type Since = Restored["since"][number];

export class History {
  spawned: SpawnedBody | null = null;
  /** null: too little was kept to bring it back. */
  kept: KeptState | null = null;
  systemPrompt = "";
  /** Its first context. Others it made itself are its program's to make again. */
  readonly messages: ContextMessage[] = [];
  /** Sent, and not received, by rising number. */
  readonly mail = new Map<number, Message>();
  readonly groups = new Map<number, GroupRecord>();
  /** If it is the top of a session: those given in it. */
  readonly grants: string[] = [];
  /** By its own calls. */
  tokensUsed = 0;
  /** Of its own limit, by it and all below it. */
  limitUsed = 0;
  /** Without pauses. */
  ranMs = 0;
  /** The newest that it said. */
  readonly log: LogEntry[] = [];
  #state: unknown = null;
  #since: Since[] = [];

  get restored(): Restored {
    return { state: this.#state, since: this.#since };
  }

  /** The last words of the model. */
  get result(): string {
    const said = this.messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
    return said?.content ?? "";
  }

  /** Errors: INTERNAL for a record of another version, and for one whose body was too large to be kept. */
  take({ kind, v, lsn, body }: JournalRecord): void {
    const fold = FOLDS[kind];
    if (fold === undefined) return;
    const known = (body ?? {}) as Body;
    if (v !== 1) throw unreadable(`record ${lsn} (${kind}) has version ${v}, which is not known here`);
    if ("omitted" in known) throw unreadable(`record ${lsn} (${kind}) was not kept: ${known.omitted}`);
    fold(this, known);
  }

  /** A message is replaced by its number, from 1. */
  context({ system_prompt, cid, replaces, ...message }: Body): void {
    if (cid !== undefined) return;
    if (system_prompt !== undefined) this.systemPrompt = String(system_prompt);
    else if (replaces === undefined) this.messages.push(message as unknown as ContextMessage);
    else this.messages[Number(replaces) - 1] = message as unknown as ContextMessage;
  }

  checkpoint(body: Body): void {
    if ("part" in body) this.#since.push({ kind: "part", part: body.part });
    else {
      this.#state = body.state;
      this.#since = [];
    }
  }

  effect(): void {
    this.#since.push({ kind: "effect" });
  }
}

const FOLDS: Partial<Record<RecordKind, (history: History, body: Body) => void>> = {
  "process.spawned": (history, body) => {
    history.spawned = body as unknown as SpawnedBody;
    history.messages.push({ role: "user", content: history.spawned.intent });
  },
  "process.state": (history, body) => {
    history.kept = body as unknown as KeptState;
  },
  "process.checkpoint": (history, body) => history.checkpoint(body),
  "ctx.record": (history, body) => history.context(body),
  "call.intent": (history, body) => {
    if (!isModelCall(body)) history.effect();
  },
  "call.result": spend,
  "call.unknown": spend,
  "acct.settle": (history, { used }) => {
    history.limitUsed = Number(used);
  },
  "mail.put": (history, { data, ...message }) => {
    const bytes = new Uint8Array(Buffer.from(String(data), "base64"));
    history.mail.set(Number(message.seq), { ...message, data: bytes } as unknown as Message);
  },
  "mail.done": (history, { seq }) => void history.mail.delete(Number(seq)),
  "group.join": (history, body) =>
    void history.groups.set(Number(body.group), body as unknown as GroupRecord),
  "group.leave": (history, { group }) => void history.groups.delete(Number(group)),
  "grant.add": (history, { rule }) => void history.grants.push(String(rule)),
  "process.log": ({ log }, body) => {
    log.push(body as unknown as LogEntry);
    if (log.length > LIMITS.logEntries) log.shift();
  },
  signal: (history, { ranMs }) => {
    if (typeof ranMs === "number") history.ranMs = ranMs;
  },
};

/** By the body of its intent. It changes nothing but what was spent. */
export function isModelCall(intent: unknown): boolean {
  return String((intent as Body).device).startsWith("/dev/llm/");
}

function spend(history: History, { cost }: Body): void {
  history.tokensUsed += (cost as { tokens: number } | undefined)?.tokens ?? 0;
}

function unreadable(message: string): Fault {
  return new Fault({ code: "INTERNAL", message });
}
