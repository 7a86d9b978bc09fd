/** OpenAI-compatible servers that speak their interface in ways of their own, or something else: raw bytes in, the documented state out. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { LlmError } from "../../abi/llm-error.ts";
import { openaiDriver } from "../responses/openai.ts";
import {
  type Answer,
  askedOf,
  type Bad,
  failing,
  HELLO,
  KEY,
  type Make,
  OK,
  page,
  serving,
  shortOf,
  sse,
} from "../testing/odd-server.ts";

const chat: Make = (url) =>
  openaiDriver({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "m" });
const DONE = "data: [DONE]\n\n";
const delta = (more: object, finish_reason: string | null = null) => ({
  id: "x",
  model: "m",
  choices: [{ index: 0, delta: more, finish_reason }],
});
const said = delta({ role: "assistant", content: "Hello." });
const ended = delta({}, "stop");
const fragment = (name: string | undefined, json: unknown, more: object = {}) =>
  delta({
    tool_calls: [{ ...more, function: { ...(name === undefined ? {} : { name }), arguments: json } }],
  });
const CALLS = [["view", { p: 1 }], ["view", { p: 2 }], "tool_use"];
const long = `{"p":"${"x".repeat(50)}"}`;

describe("an OpenAI-compatible server", () => {
  const good: readonly (readonly [what: string, answer: Answer, short: readonly unknown[]])[] = [
    ["never reports usage", { body: sse(said, ended) + DONE }, HELLO],
    [
      "reports usage in the middle and with null before",
      { body: sse({ ...said, usage: null }, { choices: [], usage: { prompt_tokens: 1 } }, ended) + DONE },
      HELLO,
    ],
    ["gives no reason for the end but [DONE]", { body: sse(said, delta({})) + DONE }, HELLO],
    ["ends without [DONE]", { body: sse(said, ended) }, HELLO],
    [
      "makes its one call in the older form",
      {
        body: sse(
          delta({ content: null, function_call: { name: "view", arguments: "" } }),
          delta({ function_call: { arguments: '{"p":' } }),
          delta({ function_call: { arguments: "1}" } }),
          delta({}, "function_call"),
        ),
      },
      [["view", { p: 1 }], "tool_use"],
    ],
    [
      "answers in one piece with a call in the older form",
      {
        body: JSON.stringify({
          choices: [
            {
              message: { function_call: { name: "view", arguments: '{"p":1}' } },
              finish_reason: "function_call",
            },
          ],
        }),
      },
      [["view", { p: 1 }], "tool_use"],
    ],
    ["has blanks behind [DONE]", { body: `${sse(said, ended)}data: [DONE] \n\n` }, HELLO],
    ["sends empty choices first, or none", { body: sse({ choices: [] }, { id: "x" }, said, ended) }, HELLO],
    ["uses CRLF", { body: `${sse(said, ended)}${DONE}`.replaceAll("\n", "\r\n") }, HELLO],
    ["uses CR alone", { body: `${sse(said, ended)}${DONE}`.replaceAll("\n", "\r") }, HELLO],
    ["puts no blank behind the colon", { body: sse(said, ended).replaceAll("data: ", "data:") }, HELLO],
    [
      "sends comments, ids, names and empty events",
      { body: `: hi\n\nretry: 5\nid: 1\nevent: x\n${sse(said)}data:\n\n: ping\n\n${sse(ended)}` },
      HELLO,
    ],
    ["begins with a byte order mark", { body: `\uFEFF${sse(said, ended)}` }, HELLO],
    ["begins with empty lines", { body: ["\n\n", `\r\n${sse(said, ended)}`] }, HELLO],
    [
      "speaks HTTP/1.0 without a length",
      { head: "HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n", body: sse(said, ended) },
      HELLO,
    ],
    [
      "calls its stream plain text",
      { head: OK.replace("event-stream", "plain"), body: sse(said, ended) },
      HELLO,
    ],
    [
      "packs its stream",
      { head: `${OK}content-encoding: gzip\r\n`, body: gzipSync(sse(said, ended) + DONE) },
      HELLO,
    ],
    [
      "answers with one complete reply",
      {
        head: OK.replace("text/event-stream", "application/json"),
        body: JSON.stringify({ choices: [{ message: { content: "Hello." }, finish_reason: null }] }),
      },
      HELLO,
    ],
    [
      "sends content in parts",
      {
        body: sse(
          delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }),
          delta({
            content: [
              { type: "text", text: "Hel" },
              { type: "text", text: "lo." },
            ],
          }),
          ended,
        ),
      },
      ["(Hm.)", ...HELLO],
    ],
    ["sends null content", { body: sse(delta({ content: null }), said, ended) }, HELLO],
    [
      "reasons in reasoning_content",
      { body: sse(delta({ reasoning_content: "Hm." }), said, ended) },
      ["(Hm.)", ...HELLO],
    ],
    ["reasons in reasoning", { body: sse(delta({ reasoning: "Hm." }), said, ended) }, ["(Hm.)", ...HELLO]],
    [
      "reasons in both",
      { body: sse(delta({ reasoning: "Hm.", reasoning_content: "Hm." }), said, ended) },
      ["(Hm.)", ...HELLO],
    ],
    ["invents a reason for the end", { body: sse(said, delta({}, "eos_token")) }, HELLO],
    [
      "sends arguments in one piece",
      { body: sse(fragment("view", long, { index: 0, id: "a" }), delta({}, "tool_calls")) },
      [["view", JSON.parse(long)], "tool_use"],
    ],
    [
      "sends arguments byte by byte",
      {
        body: sse(
          fragment("view", "", { index: 0, id: "a" }),
          ...[...long].map((each) => fragment(undefined, each, { index: 0 })),
          delta({}, "tool_calls"),
        ),
      },
      [["view", JSON.parse(long)], "tool_use"],
    ],
    [
      "sends arguments as an object",
      { body: sse(fragment("view", { p: 1 }), fragment("view", { p: 2 }), ended) },
      CALLS,
    ],
    [
      "repeats name and id with each fragment",
      {
        body: sse(
          ...[...'{"p":1}'].map((each) => fragment("view", each, { index: 0, id: "a" })),
          ...[...'{"p":2}'].map((each) => fragment("view", each, { index: 1, id: "b" })),
          ended,
        ),
      },
      CALLS,
    ],
    [
      "numbers no call",
      {
        body: sse(
          fragment("view", '{"p":', { id: "a" }),
          fragment(undefined, "1}"),
          fragment("view", '{"p":', { id: "b" }),
          fragment(undefined, "2}"),
          ended,
        ),
      },
      CALLS,
    ],
    [
      "numbers all calls 0 and gives no ids",
      {
        body: sse(
          fragment("view", '{"p":1}', { index: 0 }),
          fragment("view", '{"p":2}', { index: 0 }),
          ended,
        ),
      },
      CALLS,
    ],
    [
      "gives all calls one number and one id",
      {
        body: sse(
          fragment("view", '{"p":1}', { index: 0, id: "call_0" }),
          fragment("view", '{"p":2}', { index: 0, id: "call_0" }),
          ended,
        ),
      },
      CALLS,
    ],
  ];
  it.each(good)("that %s: the reply is there once", async (_what, answer, short) => {
    const { url } = await serving(answer);
    expect(shortOf(await askedOf(chat, url))).toEqual(short);
  });

  it("on the loopback of IPv6, with a slash at the end of its base URL", async () => {
    const { url, asked } = await serving({ body: sse(said, ended) }, "::1");
    const make: Make = (base) =>
      openaiDriver({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${base}/v1//`, OPENAI_MODEL: "m" });
    expect(shortOf(await askedOf(make, url))).toEqual(HELLO);
    expect(asked).toEqual(["POST /v1/chat/completions HTTP/1.1"]);
  });
});

const status = (line: string, more = ""): string => `HTTP/1.1 ${line}\r\nconnection: close\r\n${more}`;

describe("an OpenAI-compatible server that fails", () => {
  const bad: readonly Bad[] = [
    [
      "with an error in a 200",
      { body: '{"error":{"message":"no such user"}}' },
      "server",
      "OpenAI answered no such user",
    ],
    [
      "with the status of the server behind it",
      { body: sse({ error: { code: 429, message: "slow down" } }) },
      "rate_limit",
      "OpenAI answered 429: slow down",
    ],
    [
      "as an answer of its own form",
      {
        head: "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n",
        body: '{"object":"error","message":"no such field","code":400}',
      },
      "invalid",
      "OpenAI answered 400: no such field",
    ],
    [
      "as an event of its own form",
      {
        body: sse(said, { object: "error", message: "boom", type: "InternalServerError", code: 500 }) + DONE,
      },
      "server",
      "OpenAI answered 500: boom",
    ],
    [
      "with a request that it gave up",
      { body: sse(said, delta({}, "abort")) + DONE },
      "server",
      "OpenAI answered it broke off the reply (abort)",
    ],
    [
      "within a choice",
      {
        body: sse(said, {
          choices: [{ delta: {}, finish_reason: "error", error: { code: 502, message: "gone" } }],
        }),
      },
      "server",
      "OpenAI answered 502: gone",
    ],
    [
      "with JSON that is no reply",
      { body: `{"detail":"no ${KEY}"}` },
      "stream_malformed",
      'the answer is not a whole reply: {"detail":"no [key]"}',
    ],
    [
      "with a web page in a 200",
      { body: page },
      "stream_malformed",
      "a web page: 502 Bad Gateway",
      { shouldRetry: false, hint: expect.stringContaining("OPENAI_BASE_URL") },
    ],
    [
      "with a web page in a 502",
      { head: status("502 Bad"), body: page },
      "server",
      "OpenAI answered 502: a web page: 502 Bad Gateway",
    ],
    [
      "with a packed refusal",
      {
        head: status("400 No", "content-encoding: gzip\r\n"),
        body: gzipSync('{"error":{"message":"bad temperature"}}'),
      },
      "invalid",
      "OpenAI answered 400: bad temperature",
    ],
    [
      "with text in a 500",
      { head: status("500 No"), body: "out of order" },
      "server",
      "OpenAI answered 500: out of order",
    ],
    [
      "with nothing in a 500",
      { head: status("500 No"), body: "" },
      "server",
      "OpenAI answered 500: status code (no body)",
    ],
    [
      "with a date in a 429",
      { head: status("429 No", "retry-after: Fri, 01 Jan 2100 00:00:00 GMT\r\n"), body: "{}" },
      "rate_limit",
      "OpenAI limits the rate",
      { retryAfterMs: expect.any(Number) },
    ],
    [
      "with a redirect",
      {
        head: status("308 Moved", "location: https://other.example/v1/chat/completions?key=1\r\n"),
        body: "",
      },
      "invalid",
      "308: a redirect to https://other.example/v1/chat/completions, which is not followed",
    ],
    ["by ending early", { body: sse(said) }, "stream_malformed", "the reply ended before it was complete"],
    [
      "by ending in a packed stream",
      { head: `${OK}content-encoding: gzip\r\n`, body: gzipSync(sse(said, ended)).subarray(0, 40) },
      "connection",
      "the connection",
    ],
    ["with nothing at all", { body: "" }, "stream_malformed", "the reply ended before it was complete"],
    [
      "with blanks without end",
      { body: " ".repeat(5_000) },
      "stream_malformed",
      "the reply ended before it was complete",
    ],
  ];
  it.each(bad.map(failing))("%s is told so", async (_what, { answer, kind, words, more }) => {
    const { url } = await serving(answer);
    const failure = await askedOf(chat, url).catch((error: LlmError) => error);
    expect(failure).toMatchObject({
      kind,
      device: "/dev/llm/openai",
      message: expect.stringContaining(words),
      ...more,
    });
  });

  it("because its base URL lacks /v1 is told so", async () => {
    const { url } = await serving({ head: status("404 No"), body: "404 page not found" });
    const make: Make = (base) =>
      openaiDriver({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: base, OPENAI_MODEL: "m" });
    const failure = await askedOf(make, url).catch((error: LlmError) => error);
    expect(failure).toMatchObject({ kind: "model_not_found", hint: expect.stringContaining("end in /v1") });
  });
});
