/** For tests: callers, acts, and a driver that plays the given scene. */
import type { Act, Caller } from "../../abi/device.ts";
import { asCallId, asPid, asProcUuid } from "../../abi/ids.ts";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { AttemptRequest, Check, Driver } from "../driver.ts";

export function testCaller(part: Partial<Caller> = {}): Caller {
  return {
    pid: asPid(1),
    uuid: asProcUuid("00000000-0000-4000-8000-000000000001"),
    cwd: "/desk",
    env: {},
    signal: new AbortController().signal,
    roots: ["/desk"],
    log: () => {},
    ...part,
  };
}

export function testAct(signal: AbortSignal = new AbortController().signal): Act {
  // model files make no system calls
  return { signal, callId: asCallId("c_1"), sys: {} as Syscalls };
}

export type Scene = (request: AttemptRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

export class TestDriver implements Driver {
  readonly name = "test";
  readonly #scene: Scene;
  closed = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  card(model: string): ModelCard {
    return {
      id: model || "test-model",
      driver: this.name,
      maxInputTokens: 1000,
      maxOutputTokens: 500,
      supports: { tools: true, parallelTools: true, images: false },
      price: { input: 1, output: 2 },
      known: true,
    };
  }

  cost(_model: string, usage: Usage): number {
    return (usage.input_tokens + usage.output_tokens * 2) / 1_000_000;
  }

  stream(request: AttemptRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    return this.#scene(request, signal);
  }

  async check(): Promise<Check> {
    return { ok: true };
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

const usage: Usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** A reply of one text, one delta per part. */
export async function* textReply(...parts: readonly string[]): AsyncGenerator<StreamEvent> {
  yield {
    type: "message_start",
    message: { id: "msg_1", model: "test-model", usage: { ...usage, output_tokens: 0 } },
  };
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  for (const text of parts)
    yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
  yield { type: "content_block_stop", index: 0 };
  yield { type: "message_delta", delta: { stop_reason: "end_turn" }, usage };
  yield { type: "message_stop" };
}
