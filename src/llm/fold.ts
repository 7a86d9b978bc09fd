/** Folds a stream into a whole reply, or into a stream without deltas. Linear in the number of events. */
import type { Block, Reply, StopReason, StreamEvent, Usage, WireMessage } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import { BlockBuilder } from "./blocks.ts";

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/**
 * The complete reply. An unfinished tool_use is dropped; unfinished text is kept. Errors: `stream_malformed` if a delta
 * has no block or message_stop is missing.
 */
export async function fold(events: AsyncIterable<StreamEvent>): Promise<Reply> {
  const builders = new Map<number, BlockBuilder>();
  const blocks = new Map<number, Block>();
  let head = { id: "", model: "", usage: NO_USAGE };
  let stopReason: StopReason = "end_turn";
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        head = event.message;
        break;
      case "content_block_start":
        builders.set(event.index, new BlockBuilder(event.content_block));
        break;
      case "content_block_delta":
        builderAt(builders, event.index).add(event.delta);
        break;
      case "content_block_stop":
        blocks.set(event.index, builderAt(builders, event.index).finish());
        builders.delete(event.index);
        break;
      case "message_delta":
        stopReason = event.delta.stop_reason;
        head = { ...head, usage: event.usage };
        break;
      case "message_stop": {
        for (const [index, builder] of builders) if (!builder.isCall) blocks.set(index, builder.finish());
        const ordered = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
        return { ...head, blocks: ordered, stopReason };
      }
      case "ping":
        break;
    }
  }
  throw malformed("the reply ended before it was complete (no message_stop)");
}

/** From so many calls in one reply on, their ids are looked up in a set. */
const MANY_CALLS = 16;

/**
 * The same stream, in which each call has an id of its own in the whole conversation: some servers give none, or count
 * them anew in each reply.
 */
export async function* withOwnIds(
  events: AsyncIterable<StreamEvent>,
  messages: readonly WireMessage[],
): AsyncGenerator<StreamEvent> {
  const ids = new CallIds(messages);
  for await (const event of events) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      const id = ids.give(event.content_block.id);
      yield id === event.content_block.id
        ? event
        : { ...event, content_block: { ...event.content_block, id } };
    } else yield event;
  }
}

/** The ids of the calls of a conversation. A set of all is made only where one look through it is not enough. */
class CallIds {
  readonly #messages: readonly WireMessage[];
  readonly #given = new Set<string>();
  #all: Set<string> | undefined;

  constructor(messages: readonly WireMessage[]) {
    this.#messages = messages;
  }

  give(wanted: string): string {
    const id = wanted !== "" && !this.#has(wanted) ? wanted : freeId(wanted, this.#taken());
    this.#given.add(id);
    this.#all?.add(id);
    return id;
  }

  #has(id: string): boolean {
    if (this.#given.size >= MANY_CALLS) return this.#taken().has(id);
    return this.#given.has(id) || this.#messages.some((message) => holds(message, id));
  }

  #taken(): ReadonlySet<string> {
    this.#all ??= new Set([...this.#messages.flatMap(idsOf), ...this.#given]);
    return this.#all;
  }
}

/** Asked of a whole conversation in each turn. */
function holds({ content }: WireMessage, id: string): boolean {
  for (const block of content) if (block.type === "tool_use" && block.id === id) return true;
  return false;
}

function idsOf({ content }: WireMessage): string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

/** Made without chance, so that a replayed reply gets the same. `id`: it is taken, or empty. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  const base = id === "" ? "call" : id;
  for (let n = taken.size + 1; ; n++) if (!taken.has(`${base}_${n}`)) return `${base}_${n}`;
}

/**
 * The same stream with finished blocks only: each start event carries the whole block; deltas and pings are left out.
 */
export async function* withoutDeltas(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  const builders = new Map<number, BlockBuilder>();
  for await (const event of events) {
    if (event.type === "ping") continue;
    if (event.type === "content_block_start") {
      builders.set(event.index, new BlockBuilder(event.content_block));
    } else if (event.type === "content_block_delta") {
      builderAt(builders, event.index).add(event.delta);
    } else if (event.type === "content_block_stop") {
      const content_block = builderAt(builders, event.index).finish();
      builders.delete(event.index);
      yield { type: "content_block_start", index: event.index, content_block };
      yield event;
    } else {
      yield event;
    }
  }
}

function builderAt(builders: ReadonlyMap<number, BlockBuilder>, index: number): BlockBuilder {
  const builder = builders.get(index);
  if (builder === undefined) throw malformed(`content for block ${index}, which is not open`);
  return builder;
}

function malformed(message: string): LlmError {
  return new LlmError({ kind: "stream_malformed", message });
}
