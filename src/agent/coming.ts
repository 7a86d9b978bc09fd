/**
 * A reply that still comes: its calls begin as soon as their blocks are whole. Before the first of them begins, the
 * blocks so far are recorded as the reply in progress, and each later block is added to that record; so whatever a call
 * does follows from a recorded block. Should the rest not come, the recorded blocks are the reply.
 */
import { messageOf } from "../abi/errors.ts";
import { type Block, isBadInput, type Reply } from "../abi/llm.ts";
import { findLlmError } from "../abi/llm-error.ts";
import type { ToolCall } from "../abi/loop.ts";
import type { Sys } from "../abi/sys.ts";
import type { Broken, KeptReply, ReplyPart } from "./checkpoint.ts";
import type { OfferedTools } from "./deferred/offered.ts";
import { callsOf } from "./model/blocks.ts";
import { markedBy } from "./model/in-use.ts";
import type { ReplyReader } from "./model/reply.ts";
import { batchSizes, mayOverlap } from "./tools/calls.ts";
import { Executor } from "./tools/executor.ts";

/** What the loop does at the moments of a reply. */
export interface Listener {
  /** Records the reply so far, before its first call begins. */
  keep(kept: KeptReply): void;
  /** Shows what was said in the first `upTo` blocks: the last of them is the call that begins. */
  tell(blocks: readonly Block[], upTo: number): void;
}

interface Origin {
  readonly sys: Sys;
  readonly tools: OfferedTools;
  /** The mark of the model that answers. */
  readonly maker: string;
  /** Of its request, which need not live as long as its calls. */
  readonly maxOutputTokens: number;
  readonly reader: ReplyReader;
  /** The most calls at once. */
  readonly most?: number | undefined;
  /** Whether the call begins only when all of the reply is there. */
  isLast(call: ToolCall): boolean;
}

export class ComingReply {
  readonly executor: Executor;
  /** Why the rest did not come; undefined: it came, or still comes. */
  broken: Broken | undefined;
  readonly #origin: Origin;
  readonly #listener: Listener;
  readonly #blocks: Block[] = [];
  /** How many blocks there were with each call that was submitted. */
  readonly #ends: number[] = [];
  #lastCall: ToolCall | undefined;
  #isRecorded = false;
  /** A call that cannot begin yet: neither can those after it. */
  #isHeld = false;

  constructor(origin: Origin, listener: Listener) {
    const { sys, tools, most } = origin;
    this.#origin = origin;
    this.#listener = listener;
    this.executor = new Executor({
      sys,
      tools,
      most,
      begins: (index) => this.#begins(index),
      tell: (call, { malformed: _, ...result }) => sys.addToCheckpoint({ call, ...result }),
    });
  }

  /** A call has begun: whatever comes, the reply stays. */
  get hasBegun(): boolean {
    return this.executor.hasBegun;
  }

  /** Takes whole blocks, in their order. */
  take(blocks: readonly Block[]): void {
    const { sys, maker } = this.#origin;
    for (const block of markedBy(maker, blocks)) {
      this.#blocks.push(block);
      if (this.#isRecorded) sys.addToCheckpoint(this.#partOf(block));
      if (block.type !== "tool_use") continue;
      this.#lastCall = block;
      this.#isHeld ||= !isWhole(block) || this.#origin.isLast(block);
      if (this.#isHeld) continue;
      this.#ends.push(this.#blocks.length);
      this.executor.submit(block);
    }
  }

  /** All of the reply is there. */
  end({ blocks: _, ...whole }: Reply): void {
    if (this.#isRecorded) this.#origin.sys.addToCheckpoint({ whole } satisfies ReplyPart);
    else this.executor.dismiss();
  }

  /** The rest does not come. false: no call has begun, so the reply may be asked for again. */
  breaks(error: unknown): boolean {
    if (!this.hasBegun) {
      this.executor.dismiss();
      return false;
    }
    this.broken = { kind: findLlmError(error)?.kind ?? "cancelled", words: messageOf(error) };
    return true;
  }

  #partOf(block: Block): ReplyPart {
    const { tools } = this.#origin;
    const before = this.#lastCall;
    const joins =
      block.type === "tool_use" &&
      before !== undefined &&
      mayOverlap(before, tools) &&
      mayOverlap(block, tools);
    return { block, ...(joins ? { joins } : {}) };
  }

  #begins(index: number): void {
    if (!this.#isRecorded) {
      this.#isRecorded = true;
      const { tools, maxOutputTokens, reader } = this.#origin;
      const reply = { ...reader.part(), blocks: [...this.#blocks] };
      const batches = batchSizes(callsOf(reply.blocks), tools);
      const limits = { maxOutputTokens, escalatedOutputTokens: maxOutputTokens };
      this.#listener.keep({ reply, ...limits, batches, isOpen: true });
    }
    this.#listener.tell(this.#blocks, this.#ends[index] ?? 0);
  }
}

/** A call without arguments may be one that is cut off right after its name: only the end of the reply says so. */
function isWhole({ input }: ToolCall): boolean {
  return typeof input === "object" && input !== null && !isBadInput(input) && Object.keys(input).length > 0;
}
