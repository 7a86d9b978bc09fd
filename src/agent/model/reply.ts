/** Reads the NDJSON of one model reply as the device returns it with `stream: false`: complete blocks only. */
import {
  type Block,
  type Reply,
  type StopReason,
  type StreamEvent,
  stopReasonOf,
  type Usage,
} from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { LateMap } from "../../lib/maps/late.ts";

const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** The calls that one reply may have. */
export const MAX_CALLS = 1_000;

export interface BoundedReply extends Reply {
  /** Calls that were dropped, with all that followed them: the reply had more than `MAX_CALLS`. Absent: none. */
  readonly dropped?: number;
}

/** Reads a reply as its bytes come. Throws LlmError `stream_malformed`, which may be retried. */
export class ReplyReader {
  readonly #device: string;
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not come. */
  #begun: string[] = [];
  #head: { id: string; model: string; usage: Usage } | undefined;
  #tail: { stopReason: StopReason; usage: Usage } | undefined;
  readonly #open = new LateMap<number, Block>();
  readonly #done = new LateMap<number, Block>();
  #calls = 0;
  /** The last event has come. */
  isOver = false;

  constructor(device: string) {
    this.#device = device;
  }

  /** The blocks that these bytes complete. */
  feed(bytes: Uint8Array): Block[] {
    const [first = "", ...more] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    this.#begun.push(first);
    const finished: Block[] = [];
    for (const next of more) {
      const line = this.#begun.join("");
      this.#begun = [next];
      const block = line.trim() === "" ? undefined : this.#take(line);
      if (block !== undefined) finished.push(block);
    }
    return finished;
  }

  /** The whole reply. A block without its stop event is dropped. */
  reply(): BoundedReply {
    if (this.#head === undefined || !this.isOver) throw malformed(this.#device, "the reply ended early");
    if (this.#tail === undefined) throw malformed(this.#device, "the reply ended without a stop reason");
    const { id, model } = this.#head;
    return { id, model, blocks: this.#blocks, ...this.#tail, ...this.#dropped };
  }

  /** What has come of a reply whose rest does not come. */
  part(): BoundedReply {
    const { id = "", model = "", usage = NO_USAGE } = this.#head ?? {};
    return { id, model, blocks: this.#blocks, stopReason: "tool_use", usage, ...this.#dropped };
  }

  get #dropped(): Pick<BoundedReply, "dropped"> {
    return this.#calls > MAX_CALLS ? { dropped: this.#calls - MAX_CALLS } : {};
  }

  get #blocks(): Block[] {
    return [...this.#done].sort(([a], [b]) => a - b).map(([, block]) => block);
  }

  #take(line: string): Block | undefined {
    const event = findEvent(line);
    if (event === undefined) throw malformed(this.#device, "a line of the reply is not an event");
    switch (event.type) {
      case "message_start":
        this.#head = event.message;
        break;
      case "content_block_start":
        this.#open.set(event.index, event.content_block);
        break;
      case "content_block_delta":
        throw malformed(this.#device, "the reply came in pieces, which was not asked for");
      case "content_block_stop": {
        const block = this.#open.get(event.index);
        this.#open.delete(event.index);
        if (block?.type === "tool_use") this.#calls++;
        if (block === undefined || this.#calls > MAX_CALLS) return undefined;
        this.#done.set(event.index, block);
        return block;
      }
      case "message_delta":
        this.#tail = { stopReason: stopReasonOf(event.delta.stop_reason), usage: event.usage };
        break;
      case "message_stop":
        this.isOver = true;
        break;
      case "ping":
        break;
    }
    return undefined;
  }
}

function findEvent(line: string): StreamEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "type" in value
      ? (value as StreamEvent)
      : undefined;
  } catch {
    return undefined;
  }
}

function malformed(device: string, message: string): LlmError {
  return new LlmError({ kind: "stream_malformed", message, device });
}
