/**
 * Ollama's own chat: one JSON object a line, calls in one piece, counts on the last line.
 * https://docs.ollama.com/api/chat
 */
import { findObject, isObject, type JsonObject } from "../json.ts";
import { type Frame, fragments, type Message } from "../message.ts";
import type { ModelRequest } from "../request.ts";

const unknownFields = { x_future_field: { nested: [1, 2, 3] } };
/** What the server holds of a prompt when it is not told. */
const usualContext = 4_096;

export function* streamOllama(message: Message, request: ModelRequest): Generator<Frame> {
  const { fragmentChars, isNoisy } = message.plan;
  const line = (value: object, endsBlock: boolean): Frame => ({
    text: `${JSON.stringify({ ...value, ...(isNoisy ? unknownFields : {}) })}\n`,
    isCounted: true,
    endsBlock,
  });
  for (const { part, endsBlock } of pieces(message, fragmentChars))
    yield line(
      { ...head(message), message: { role: "assistant", content: "", ...part }, done: false },
      endsBlock,
    );
  yield line(
    { ...head(message), message: { role: "assistant", content: "" }, ...endOf(message, request) },
    false,
  );
}

export function completeOllama(message: Message, request: ModelRequest): object {
  const all = [...pieces(message, Number.MAX_SAFE_INTEGER)].map(({ part }) => part);
  const join = (name: "content" | "thinking") => all.map((part) => part[name] ?? "").join("");
  const calls = all.flatMap((part) => (Array.isArray(part.tool_calls) ? part.tool_calls : []));
  const thinking = join("thinking");
  const said = {
    role: "assistant",
    content: join("content"),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { ...head(message), message: said, ...endOf(message, request) };
}

function* pieces(
  { blocks }: Message,
  size: number | undefined,
): Generator<{ readonly part: JsonObject; readonly endsBlock: boolean }> {
  for (const block of blocks) {
    if (block.type === "tool_use") {
      const call = { name: block.name, arguments: findObject(block.json) ?? {} };
      yield { part: { tool_calls: [{ id: block.id, function: call }] }, endsBlock: true };
    } else if (block.type === "text" || block.type === "thinking") {
      const parts = fragments(block.type === "text" ? block.text : block.thinking, size);
      for (const [at, text] of parts.entries())
        yield {
          part: block.type === "text" ? { content: text } : { thinking: text },
          endsBlock: at === parts.length - 1,
        };
    }
  }
}

function head({ model }: Message): object {
  return { model, created_at: "2025-01-01T00:00:00Z" };
}

/** A prompt over the context is cut without a word: the count tells. */
function endOf({ stopReason, usage }: Message, { body }: ModelRequest): object {
  const context = isObject(body.options) ? body.options.num_ctx : undefined;
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    done: true,
    done_reason: stopReason === "max_tokens" ? "length" : "stop",
    total_duration: 1,
    load_duration: 1,
    prompt_eval_count: Math.min(prompt, typeof context === "number" ? context : usualContext),
    prompt_eval_duration: 1,
    eval_count: usage.output,
    eval_duration: 1,
  };
}
