/** Ollama's own client is the judge of its wire format. */
import { type ChatResponse, Ollama } from "ollama";
import { afterEach, describe, expect, it } from "vitest";
import { blocks, cut, error, overloaded, type Reply, text, thinking, toolUse } from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
afterEach(() => server.close());

const start = async (script: readonly Reply[], more: Partial<ModelServerOptions> = {}) => {
  server = await startModelServer({ script, ...more });
  return new Ollama({ host: server.url });
};
const request = { model: "qwen3", messages: [{ role: "user", content: "hello" }] };
const everything = blocks(
  thinking("Let me see."),
  "grün € 😀",
  toolUse({ name: "ls", input: { path: "ü/日本" } }),
).usage({ input: 3, output: 9 });

async function all(stream: AsyncIterable<ChatResponse>): Promise<ChatResponse[]> {
  const parts: ChatResponse[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
const failureOf = async (promise: Promise<unknown>) => promise.catch((failure: unknown) => failure);

describe("ollama", () => {
  it.each([
    ["plain", everything],
    ["in fragments", everything.fragment(1)],
    ["split in the middle of characters", everything.splitEvery(2)],
    ["with unknown fields", everything.noise()],
  ])("reads a stream %s", async (_name, reply) => {
    const client = await start([reply]);
    const parts = await all(await client.chat({ ...request, think: true, stream: true }));
    const join = (name: "content" | "thinking") => parts.map(({ message }) => message[name] ?? "").join("");
    expect([join("thinking"), join("content")]).toEqual(["Let me see.", "grün € 😀"]);
    expect(parts.flatMap(({ message }) => message.tool_calls ?? [])).toMatchObject([
      { function: { name: "ls", arguments: { path: "ü/日本" } } },
    ]);
    expect(parts.at(-1)).toMatchObject({
      done: true,
      done_reason: "stop",
      prompt_eval_count: 3,
      eval_count: 9,
    });
  });

  it("reads whole answers, models, and what a model can do", async () => {
    const client = await start([everything], { contextWindowTokens: 40_000 });
    const answer = await client.chat(request);
    expect(answer.message).toMatchObject({ content: "grün € 😀", thinking: "Let me see." });
    expect((await client.list()).models.length).toBeGreaterThan(1);
    const shown = await client.show({ model: "qwen3" });
    expect(shown.capabilities).toContain("tools");
    expect(shown.model_info).toMatchObject({ "llama.context_length": 40_000 });
  });

  it("is told of a prompt that was cut by its count alone", async () => {
    const client = await start([text("Hi."), text("Hi.")]);
    const messages = [{ role: "user", content: "word ".repeat(10_000) }];
    const cutAt = async (num_ctx: number) =>
      (await client.chat({ ...request, messages, options: { num_ctx } })).prompt_eval_count;
    expect(await cutAt(2_048)).toBe(2_048);
    expect(await cutAt(50_000)).toBeGreaterThan(12_000);
  });

  it("reads errors, also in mid stream", async () => {
    const client = await start([
      overloaded(),
      error(500),
      text("abc").fragment(1).fail(error(500), { afterEvents: 2 }),
      cut({ afterEvents: 1 }),
    ]);
    const ask = () => failureOf(client.chat(request));
    expect(await ask()).toMatchObject({ status_code: 503, message: expect.stringContaining("server busy") });
    expect(await ask()).toMatchObject({ status_code: 500 });
    const stream = async () => all(await client.chat({ ...request, stream: true }));
    expect(await failureOf(stream())).toMatchObject({
      message: expect.stringContaining("Internal server error"),
    });
    expect(await failureOf(stream())).toBeInstanceOf(Error);
  });

  it("is refused tools and thinking for a model without them", async () => {
    const client = await start([text("Hi.")], { capabilities: ["completion"] });
    const tools = [
      { type: "function", function: { name: "ls", description: "Lists.", parameters: { type: "object" } } },
    ];
    expect(await failureOf(client.chat({ ...request, tools }))).toMatchObject({ status_code: 400 });
    expect(await failureOf(client.chat({ ...request, think: true }))).toMatchObject({ status_code: 400 });
  });
});
