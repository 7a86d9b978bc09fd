/** Parses the NDJSON of one model reply as the device returns it with `stream: false`: complete blocks only. */
import {
  type Block,
  type Reply,
  type StopReason,
  type StreamEvent,
  stopReasonOf,
  type Usage,
} from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";

export function isMessageStop(line: string): boolean {
  return findEvent(line)?.type === "message_stop";
}

/** Throws LlmError `stream_malformed`, which may be retried. A block without its stop event is dropped. */
export function parseReply(lines: readonly string[], device: string): Reply {
  let head: { id: string; model: string; usage: Usage } | undefined;
  let tail: { stopReason: StopReason; usage: Usage } | undefined;
  let isOver = false;
  const open = new Map<number, Block>();
  const done = new Map<number, Block>();
  for (const line of lines) {
    const event = findEvent(line);
    if (event === undefined) throw malformed(device, "a line of the reply is not an event");
    switch (event.type) {
      case "message_start":
        head = event.message;
        break;
      case "content_block_start":
        open.set(event.index, event.content_block);
        break;
      case "content_block_delta":
        throw malformed(device, "the reply came in pieces, which was not asked for");
      case "content_block_stop":
        finish(open, done, event.index);
        break;
      case "message_delta":
        tail = { stopReason: stopReasonOf(event.delta.stop_reason), usage: event.usage };
        break;
      case "message_stop":
        isOver = true;
        break;
      case "ping":
        break;
    }
  }
  if (head === undefined || !isOver) throw malformed(device, "the reply ended early");
  if (tail === undefined) throw malformed(device, "the reply ended without a stop reason");
  const blocks = [...done].sort(([a], [b]) => a - b).map(([, block]) => block);
  return { id: head.id, model: head.model, blocks, ...tail };
}

function finish(open: Map<number, Block>, done: Map<number, Block>, index: number): void {
  const block = open.get(index);
  if (block !== undefined) done.set(index, block);
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
