/** What a process remembers when a run of its program begins: the fold of all records before it, with their words. */
import type { Restored } from "../../abi/program.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { isLoading, isModelCall, isProbed, probedOf } from "../../kernel/facts/intents.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";

type Body = Record<string, unknown>;

/** What `process.spawned` says of an agent. */
export interface Spawned {
  readonly intent: string;
  readonly agent: string | null;
  readonly cwd: string;
}

export class Memory {
  spawned: Spawned | null = null;
  systemPrompt = "";
  readonly messages: ContextMessage[] = [];
  /** Replies of the model. */
  steps = 0;
  isFork = false;
  #state: unknown = null;
  /** Intents without a result, of calls that a later daemon looks for. */
  readonly #probes = new Map<string, Body>();
  #since: Restored["since"][number][] = [];
  /** As a later daemon found it; what that did to bring it back is no part of it. */
  #found: Restored | null = null;

  /** What a run that begins here is told of the ones before. */
  get restored(): Restored {
    return this.#found ?? this.#restored;
  }

  get #restored(): Restored {
    return { state: this.#state, since: [...this.#since] };
  }

  /** The last words of the model. */
  get result(): string {
    const said = this.messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
    return said?.content ?? "";
  }

  take({ kind, body, call }: JournalRecord): void {
    FOLDS[kind]?.(this, (body ?? {}) as Body, call ?? "");
  }

  /** A run has begun: what it was told is told. */
  begin(): void {
    this.#found = null;
  }

  /** What a fork is for was said to its origin. */
  spawn(spawned: Spawned): void {
    this.spawned = spawned;
    if (!this.isFork && spawned.intent !== "") this.messages.push({ role: "user", content: spawned.intent });
  }

  context({ system_prompt, cid, replaces, ...message }: Body): void {
    if (cid !== undefined) return;
    if (system_prompt !== undefined) this.systemPrompt = String(system_prompt);
    else if (replaces !== undefined)
      this.messages[Number(replaces) - 1] = message as unknown as ContextMessage;
    else {
      this.messages.push(message as unknown as ContextMessage);
      if (message.role === "assistant") this.steps++;
    }
  }

  checkpoint(body: Body): void {
    if ("part" in body) this.#since.push({ kind: "part", part: body.part });
    else {
      this.#state = body.state;
      this.#since = [];
    }
  }

  find(): void {
    this.#found = this.#restored;
  }

  effect(call: string, intent: Body): void {
    this.#since.push({ kind: "effect" });
    if (intent.class === "probe") this.#probes.set(call, intent);
  }

  ended(call: string, body: Body): void {
    const intent = this.#probes.get(call);
    this.#probes.delete(call);
    if (intent !== undefined && isProbed(body))
      this.#since.push({ kind: "probed", probed: probedOf(body.probed, intent) });
  }
}

const FOLDS: Partial<Record<RecordKind, (memory: Memory, body: Body, call: string) => void>> = {
  "process.forked": (memory) => {
    memory.isFork = true;
  },
  "process.spawned": (memory, body) => memory.spawn(body as unknown as Spawned),
  "process.checkpoint": (memory, body) => memory.checkpoint(body),
  "process.recovered": (memory) => memory.find(),
  "ctx.record": (memory, body) => memory.context(body),
  "call.intent": (memory, body, call) => {
    if (!isModelCall(body) && !isLoading(body)) memory.effect(call, body);
  },
  "call.result": (memory, body, call) => memory.ended(call, body),
  "call.unknown": (memory, body, call) => memory.ended(call, body),
};
