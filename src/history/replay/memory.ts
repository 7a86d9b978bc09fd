/**
 * The context and state of a process when a run of its program begins: the fold of all records before it, with bodies.
 */
import type { Restored } from "../../abi/program.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import {
  foldMove,
  foldPin,
  headOf,
  type MoveBody,
  noViews,
  numbersOf,
  type PinBody,
  type Views,
} from "../../kernel/context/view.ts";
import { isLoading, isModelCall, isProbed, probedOf } from "../../kernel/facts/intents.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import { intentMessage } from "../../kernel/process/kept-state.ts";

type Body = Record<string, unknown>;

/** The fields of `process.spawned` that a replay needs. */
export interface Spawned {
  readonly intent: string;
  readonly media?: readonly MediaPart[];
  readonly agent: string | null;
  readonly cwd: string;
}

export class Memory {
  spawned: Spawned | null = null;
  systemPrompt = "";
  /** All messages, by number from 1, and which of them are in view. */
  readonly messages: ContextMessage[] = [];
  readonly #views = noViews();
  /** The number of replies of the model. */
  steps = 0;
  isFork = false;
  #state: unknown = null;
  /** Intents without a result, by call, whose outcome a later daemon may find out from the files. */
  readonly #probes = new Map<string, Body>();
  #since: Restored["since"][number][] = [];
  /** The state as a later daemon found it, without the records that this daemon wrote to restore it. */
  #found: Restored | null = null;

  /** The state of the earlier runs that a run beginning here receives. */
  get restored(): Restored {
    return this.#found ?? this.#restored;
  }

  get #restored(): Restored {
    return { state: this.#state, since: [...this.#since] };
  }

  get views(): Views {
    return { ...this.#views, count: this.messages.length };
  }

  /** The last non-empty text of the model. */
  get result(): string {
    const { views } = this;
    const shown = numbersOf(views, headOf(views)).flatMap((n) => this.messages[n - 1] ?? []);
    const said = shown.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
    return said?.content ?? "";
  }

  take({ kind, body, call }: JournalRecord): void {
    FOLDS[kind]?.(this, (body ?? {}) as Body, call ?? "");
  }

  /** A run has begun, and has received the restored state. */
  begin(): void {
    this.#found = null;
  }

  /**
   * The intent is a message only for a process that is not a fork: a fork's intent is already among its origin's
   * messages.
   */
  spawn(spawned: Spawned): void {
    this.spawned = spawned;
    if (!this.isFork && spawned.intent !== "") this.messages.push(intentMessage(spawned));
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

  move(body: Body): void {
    if (body.cid !== undefined) return;
    this.#views.count = this.messages.length;
    foldMove(this.#views, body as unknown as MoveBody);
    if (this.#views.count > this.messages.length) this.messages.push(body.put as ContextMessage);
  }

  pin(body: Body): void {
    if (body.cid === undefined) foldPin(this.#views, body as unknown as PinBody);
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
  "ctx.move": (memory, body) => memory.move(body),
  "ctx.pin": (memory, body) => memory.pin(body),
  "call.intent": (memory, body, call) => {
    if (!isModelCall(body) && !isLoading(body)) memory.effect(call, body);
  },
  "call.result": (memory, body, call) => memory.ended(call, body),
  "call.unknown": (memory, body, call) => memory.ended(call, body),
};
