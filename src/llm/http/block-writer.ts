/**
 * Writes the blocks of a reply whose server does not say where they begin and end: pieces of one type in a row are one
 * block, a call comes whole. It numbers all blocks of the reply.
 */
import type { BlockDelta, StreamEvent } from "../../abi/llm.ts";

type Prose = "text" | "thinking";

export class BlockWriter {
  #next = 0;
  #open: { readonly type: Prose; readonly index: number } | undefined;

  /** The number of a block that the caller writes. */
  take(): number {
    return this.#next++;
  }

  /** Adds to the open block of this type, or begins one. */
  *prose(type: Prose, text: string): Generator<StreamEvent> {
    if (text === "") return;
    if (this.#open?.type !== type) {
      yield* this.end();
      this.#open = { type, index: this.take() };
      const content_block =
        type === "text" ? ({ type, text: "" } as const) : ({ type, thinking: "", signature: "" } as const);
      yield { type: "content_block_start", index: this.#open.index, content_block };
    }
    yield* this.delta(
      type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text },
    );
  }

  /** Adds to the open block, if there is one. */
  *delta(delta: BlockDelta): Generator<StreamEvent> {
    if (this.#open !== undefined) yield { type: "content_block_delta", index: this.#open.index, delta };
  }

  *end(): Generator<StreamEvent> {
    if (this.#open !== undefined) yield { type: "content_block_stop", index: this.#open.index };
    this.#open = undefined;
  }

  *call(id: string, name: string, args: unknown): Generator<StreamEvent> {
    yield* this.end();
    const index = this.take();
    yield { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } };
    // some servers send them as text, as others' interfaces have them
    const partial_json = typeof args === "string" ? args : JSON.stringify(args ?? {});
    const delta = { type: "input_json_delta", partial_json } as const;
    yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
}
