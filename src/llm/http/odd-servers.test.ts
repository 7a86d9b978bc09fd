/** Servers that speak their interface in ways of their own, or something else: raw bytes in, the documented state out. */
import { describe, expect, it } from "vitest";
import type { LlmErrorKind } from "../../abi/llm.ts";
import type { LlmError } from "../../abi/llm-error.ts";
import { AnthropicDriver } from "../anthropic/anthropic.ts";
import { geminiDriver } from "../gemini/gemini.ts";
import { ollamaDriver } from "../ollama/ollama.ts";
import { openaiDriver } from "../responses/openai.ts";
import {
  askedOf,
  type Bad,
  failing,
  HELLO,
  KEY,
  type Make,
  page,
  serving,
  shortOf,
  sse,
} from "../testing/odd-server.ts";

const responses: Make = (url) =>
  openaiDriver({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: url,
    OPENAI_MODEL: "m",
    CRUX_OPENAI_API: "responses",
  });
const anthropic: Make = (url) => new AnthropicDriver({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url });
const gemini: Make = (url) => geminiDriver({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: url });
const ollama: Make = (url) => ollamaDriver({ OLLAMA_HOST: url, OLLAMA_MODEL: "m" });

const start = { type: "message_start", message: { id: "x", model: "m", usage: { input_tokens: 1 } } };
const began = (content_block: object, index = 0) => ({
  type: "content_block_start",
  index,
  content_block,
});
const piece = (part: object, index = 0) => ({
  type: "content_block_delta",
  index,
  delta: part,
});
const over = (index = 0) => ({ type: "content_block_stop", index });
const stopped = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
  { type: "message_stop" },
];
const text = { type: "text_delta", text: "Hello." };
const hello = [began({ type: "text", text: "" }), piece(text), over()];

describe("a server of Anthropic's form", () => {
  const whole = {
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "Hello." }],
    stop_reason: "end_turn",
  };
  const good: readonly (readonly [what: string, body: string, short: readonly unknown[]])[] = [
    ["pings", sse(start, { type: "ping" }, ...hello, { type: "ping" }, ...stopped), HELLO],
    [
      "sends events of its own",
      sse({ type: "x-info" }, start, ...hello, { type: "usage_report" }, ...stopped),
      HELLO,
    ],
    [
      "sends blocks and deltas of its own",
      sse(
        start,
        began({ type: "audio" }),
        piece({ type: "audio_delta" }),
        over(),
        began({ type: "text" }, 1),
        piece({ type: "citations_delta" }, 1),
        piece(text, 1),
        over(1),
        ...stopped,
      ),
      HELLO,
    ],
    [
      "thinks, with signature and redacted",
      sse(
        start,
        began({ type: "thinking", thinking: "" }),
        piece({ type: "thinking_delta", thinking: "Hm." }),
        piece({ type: "signature_delta", signature: "s" }),
        over(),
        began({ type: "redacted_thinking", data: "r" }, 1),
        over(1),
        began({ type: "text" }, 2),
        piece(text, 2),
        over(2),
        ...stopped,
      ),
      ["(Hm.)", "redacted_thinking", ...HELLO],
    ],
    [
      "numbers all blocks alike",
      sse(
        start,
        began({ type: "text" }),
        piece(text),
        began({ type: "tool_use", id: "a", name: "view", input: {} }),
        piece({ type: "input_json_delta", partial_json: '{"p":1}' }),
        over(),
        ...stopped,
      ),
      ["Hello.", ["view", { p: 1 }], "end_turn"],
    ],
    [
      "sends blocks whole",
      sse(
        start,
        began({ type: "text", text: "Hello." }),
        over(),
        began({ type: "tool_use", id: "a", name: "view", input: { p: 1 } }, 1),
        over(1),
        ...stopped,
      ),
      ["Hello.", ["view", { p: 1 }], "end_turn"],
    ],
    ["answers with one complete reply", JSON.stringify(whole), HELLO],
  ];
  it.each(good)("that %s: the reply is there once", async (_what, body, short) => {
    const { url, asked } = await serving({ body });
    expect(shortOf(await askedOf(anthropic, `${url}/v1/`))).toEqual(short);
    expect(asked).toEqual(["POST /v1/messages HTTP/1.1"]);
  });

  const failed = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const bad: readonly Bad[] = [
    ["in mid-stream", { body: sse(start, ...hello, failed) }, "overloaded", "Anthropic answered Overloaded"],
    ["in a 200", { body: JSON.stringify(failed) }, "overloaded", "Anthropic answered Overloaded"],
    ["with JSON that is no reply", { body: '{"ok":true}' }, "stream_malformed", 'not a message: {"ok":true}'],
    [
      "with a web page",
      { body: page },
      "stream_malformed",
      "a web page",
      { shouldRetry: false, hint: expect.stringContaining("ANTHROPIC_BASE_URL") },
    ],
    [
      "with text of no block",
      { body: sse(start, piece(text), ...stopped) },
      "stream_malformed",
      "a block that is not open",
    ],
    ["by ending early", { body: sse(start, ...hello, stopped[0]!) }, "stream_malformed", "no message_stop"],
  ];
  it.each(bad.map(failing))("that fails %s is told so", async (_what, { answer, kind, words, more }) => {
    const { url } = await serving(answer);
    const failure = await askedOf(anthropic, url).catch((error: LlmError) => error);
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(words), ...more });
  });
});

const line = (message: object, more: object = {}) =>
  JSON.stringify({ model: "m", message, done: false, ...more });
const last = line({ content: "" }, { done: true, done_reason: "stop" });
const spoken = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { parts }, ...more }],
});

describe("Ollama, Gemini and Responses from other hands", () => {
  const good: readonly (readonly [what: string, make: Make, body: string, short: readonly unknown[]])[] = [
    ["Ollama without the last line end", ollama, `${line({ content: "Hello." })}\r\n\n${last}`, HELLO],
    [
      "Ollama with arguments as text",
      ollama,
      `${line({ tool_calls: [{ function: { name: "view", arguments: '{"p":1}' } }] })}\n${last}\n`,
      [["view", { p: 1 }], "tool_use"],
    ],
    [
      "Ollama with an error that is null",
      ollama,
      `${line({ content: "Hello." }, { error: null })}\n${last}\n`,
      HELLO,
    ],
    [
      "Gemini's list of chunks",
      gemini,
      JSON.stringify([spoken([{ text: "Hel" }]), spoken([{ text: "lo." }], { finishReason: "STOP" })]),
      HELLO,
    ],
    [
      "Gemini's stream of chunks",
      gemini,
      sse(spoken([{ text: "Hel" }]), spoken([{ text: "lo." }], { finishReason: "STOP" })),
      HELLO,
    ],
    [
      "Gemini that stops for safety",
      gemini,
      sse(spoken([{ text: "Hel" }]), { candidates: [{ finishReason: "SAFETY" }] }),
      ["Hel", "refusal"],
    ],
    [
      "Responses in one complete reply",
      responses,
      JSON.stringify({
        id: "r",
        status: "completed",
        output: [{ type: "message", content: [{ type: "output_text", text: "Hello." }] }],
      }),
      HELLO,
    ],
  ];
  it.each(good)("%s: the reply is there once", async (_what, make, body, short) => {
    const { url } = await serving({ body });
    expect(shortOf(await askedOf(make, url))).toEqual(short);
  });

  const bad: readonly (readonly [
    what: string,
    make: Make,
    body: string,
    kind: LlmErrorKind,
    words: string,
  ])[] = [
    [
      "Ollama cut in a line",
      ollama,
      `${line({ content: "Hello." })}\n${last.slice(0, 30)}`,
      "stream_malformed",
      "not JSON",
    ],
    ["Ollama's error", ollama, '{"error":"model runner has gone"}', "server", "model runner has gone"],
    ["a web page at Ollama's place", ollama, page, "stream_malformed", "a web page"],
    [
      "Gemini's list cut short",
      gemini,
      JSON.stringify([spoken([{ text: "Hel" }])]).slice(0, -1),
      "stream_malformed",
      "not JSON",
    ],
    [
      "Gemini's list without its end",
      gemini,
      JSON.stringify([spoken([{ text: "Hel" }])]),
      "stream_malformed",
      "not a whole reply",
    ],
    [
      "Gemini's error in a list",
      gemini,
      JSON.stringify([{ error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }]),
      "overloaded",
      "The model is overloaded",
    ],
    [
      "a blocked prompt",
      gemini,
      sse({ promptFeedback: { blockReason: "SAFETY" } }),
      "refusal",
      "the prompt was blocked (SAFETY)",
    ],
    [
      "Responses' error in a 200",
      responses,
      '{"error":{"message":"no such model","code":"invalid_prompt"}}',
      "invalid",
      "no such model",
    ],
  ];
  it.each(bad)("%s is told so", async (_what, make, body, kind, words) => {
    const { url } = await serving({ body });
    const failure = await askedOf(make, url).catch((error: LlmError) => error);
    expect(failure).toMatchObject({ kind, message: expect.stringContaining(words) });
  });
});
