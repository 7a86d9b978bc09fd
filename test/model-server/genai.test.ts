/** Google's own client is the judge of its wire format. */
import { ApiError, FinishReason, type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import { afterEach, describe, expect, it } from "vitest";
import { blocks, cut, error, overloaded, type Reply, rateLimit, text, thinking, toolUse } from "./reply.ts";
import { type ModelServer, startModelServer } from "./server.ts";

let server: ModelServer;
afterEach(() => server.close());

const start = async (script: readonly Reply[]) => {
  server = await startModelServer({ script, apiKey: "key", verifySignatures: true });
  return new GoogleGenAI({
    apiKey: "key",
    apiVersion: "v1beta",
    httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } },
  });
};

const request = { model: "gemini-4-hydrogen", contents: "hello" };
const declared = [
  { name: "ls", parameters: { type: "OBJECT", properties: { path: { type: "STRING" } } } },
] as never;
const everything = blocks(
  thinking("Let me see."),
  "grün € 😀",
  toolUse([
    { name: "ls", input: { path: "ü/日本" }, id: "t1" },
    { name: "ls", input: {}, id: "t2" },
  ]),
).usage({ input: 3, output: 9, cacheRead: 4, reasoning: 5 });

async function all(stream: AsyncIterable<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
const partsOf = (chunks: readonly GenerateContentResponse[]): Part[] =>
  chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
const failureOf = async (promise: Promise<unknown>) => promise.catch((failure: unknown) => failure);

describe("@google/genai", () => {
  it.each([
    ["plain", everything],
    ["in fragments", everything.fragment(1)],
    ["split in the middle of characters", everything.splitEvery(2)],
    ["with noise", everything.noise().splitEvery(11)],
  ])("reads a stream %s", async (_name, reply) => {
    const client = await start([reply]);
    const chunks = await all(await client.models.generateContentStream(request));
    const parts = partsOf(chunks);
    const said = (isThought: boolean) =>
      parts.map((part) => ((part.thought ?? false) === isThought ? (part.text ?? "") : "")).join("");
    expect([said(true), said(false)]).toEqual(["Let me see.", "grün € 😀"]);
    const calls = parts.filter(({ functionCall }) => functionCall !== undefined);
    expect(calls).toMatchObject([
      {
        functionCall: { id: "t1", name: "ls", args: { path: "ü/日本" } },
        thoughtSignature: expect.any(String),
      },
      { functionCall: { id: "t2", name: "ls", args: {} } },
    ]);
    expect(calls[1]).not.toHaveProperty("thoughtSignature");
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: FinishReason.STOP }],
      usageMetadata: {
        promptTokenCount: 7,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 5,
        totalTokenCount: 16,
      },
    });
  });

  it("reads whole answers and models", async () => {
    const client = await start([everything]);
    const answer = await client.models.generateContent(request);
    expect(answer.functionCalls).toMatchObject([{ name: "ls" }, { name: "ls" }]);
    const models = await client.models.list();
    expect(models.page.length).toBeGreaterThan(1);
  });

  it("takes its own output back through a chat, signatures included", async () => {
    const client = await start([everything, text("Done.")]);
    const chat = client.chats.create({
      model: request.model,
      config: { tools: [{ functionDeclarations: declared }] },
    });
    await all(await chat.sendMessageStream({ message: "hello" }));
    const results = ["t1", "t2"].map((id) => ({
      functionResponse: { id, name: "ls", response: { output: "x" } },
    }));
    expect((await chat.sendMessage({ message: results })).text).toBe("Done.");
    expect(server.rejected).toEqual([]);
  });

  it.each([
    ["without its signature", { thoughtSignature: undefined }, /missing a thought_signature/],
    ["with another signature", { thoughtSignature: "b3RoZXI=" }, /Corrupted thought signature/],
    ["with the documented bypass", { thoughtSignature: "skip_thought_signature_validator" }, undefined],
  ])("is refused a call %s", async (_name, change, refusal) => {
    const client = await start([text("Done.")]);
    const contents = [
      { role: "user", parts: [{ text: "hello" }] },
      { role: "model", parts: [{ functionCall: { id: "t1", name: "ls", args: {} }, ...change }] },
      { role: "user", parts: [{ functionResponse: { id: "t1", name: "ls", response: { output: "x" } } }] },
    ];
    const outcome = await failureOf(client.models.generateContent({ ...request, contents } as never));
    if (refusal === undefined) expect(outcome).toMatchObject({ text: "Done." });
    else expect((outcome as Error).message).toMatch(refusal);
  });

  it.each([
    ["additionalProperties", { additionalProperties: false }, /Unknown name "additionalProperties"/],
    ["an empty object", { properties: { a: { type: "object", properties: {} } } }, /should be non-empty/],
    ["an enum of numbers", { properties: { a: { type: "integer", enum: [1] } } }, /only allowed for STRING/],
    ["a list without items", { properties: { a: { type: "array" } } }, /items: missing field/],
    ["a name that is not defined", { required: ["b"] }, /property is not defined/],
    ["a union of types", { properties: { a: { type: ["string", "null"] } } }, /TYPE_ENUM/],
  ])("refuses a schema with %s", async (_name, change, refusal) => {
    await start([text("Done.")]);
    const parameters = { type: "object", properties: { a: { type: "string" } }, ...change };
    const contents = [{ role: "user", parts: [{ text: "hello" }] }];
    const body = { contents, tools: [{ functionDeclarations: [{ name: "ls", parameters }] }] };
    const answer = await fetch(`${server.geminiBaseUrl}/models/m:generateContent`, {
      method: "POST",
      headers: { "x-goog-api-key": "key" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(new RegExp(refusal.source.replaceAll('"', '\\\\"')));
  });

  it("reads errors in its own form", async () => {
    const client = await start([overloaded(), rateLimit({ retryAfter: 9 }), error(400), error(401)]);
    const ask = async () => (await failureOf(client.models.generateContentStream(request))) as ApiError;
    const inner = (failure: ApiError) => (JSON.parse(failure.message) as { error: object }).error;
    const busy = await ask();
    expect(busy).toBeInstanceOf(ApiError);
    expect(inner(busy)).toMatchObject({ code: 503, status: "UNAVAILABLE" });
    const limited = await ask();
    expect(limited.status).toBe(429);
    expect(inner(limited)).toMatchObject({
      status: "RESOURCE_EXHAUSTED",
      details: [{ violations: [{ quotaId: expect.stringContaining("PerMinute") }] }, { retryDelay: "9s" }],
    });
    expect((await ask()).status).toBe(400);
    expect(inner(await ask())).toMatchObject({ code: 400, details: [{ reason: "API_KEY_INVALID" }] });
  });

  it("fails on an error and a cut in mid stream", async () => {
    const client = await start([
      text("abc").fragment(1).fail(error(500), { afterEvents: 2 }),
      cut({ afterEvents: 1 }),
    ]);
    const ask = async () => all(await client.models.generateContentStream(request));
    expect(((await failureOf(ask())) as Error).message).toContain("INTERNAL");
    expect(await failureOf(ask())).toBeInstanceOf(Error);
  });
});
