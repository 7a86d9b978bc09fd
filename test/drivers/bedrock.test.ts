import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bedrockDriver } from "../../src/llm/bedrock/bedrock.ts";
import { readEventStream } from "../../src/llm/bedrock/event-stream.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { bedrockErrorFrame } from "../model-server/bedrock/encode.ts";
import { AWS_KEYS } from "../model-server/bedrock/request.ts";
import { apiError } from "../model-server/error.ts";
import { error, text } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { serve, serverRig, TEXT_STOPS } from "./rig.ts";

const envOf = ({ url }: ModelServer) => ({ AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: url });

driverContract(
  serverRig({
    name: "bedrock",
    connect: (server) => bedrockDriver({ ...AWS_KEYS, ...envOf(server) }),
    stops: TEXT_STOPS,
    errors: [
      { kind: "invalid", status: 400 },
      { kind: "forbidden", status: 403 },
      { kind: "model_not_found", status: 404 },
      { kind: "timeout", status: 408 },
      { kind: "server", status: 424 },
      { kind: "rate_limit", status: 429, retryAfterS: 7 },
      { kind: "server", status: 500 },
      { kind: "overloaded", status: 503 },
    ],
    can: { thinking: true, retryAfter: true, interleave: true },
  }),
);

describe("bedrockDriver()", () => {
  const none = new AbortController().signal;
  const ask = (server: ModelServer, env: Record<string, string>, model = "sonnet") =>
    fold(bedrockDriver({ ...envOf(server), ...env }).stream(contractRequest({ model }), none));

  it.each([
    ["sonnet", "global.anthropic.claude-sonnet-5-5"],
    ["claude-opus-4-8", "global.anthropic.claude-opus-4-8"],
    ["eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0"],
    [
      "arn:aws:bedrock:eu-west-1:1:inference-profile/x",
      "arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx",
    ],
  ])("stream() asks for %s by a signed request, as Crux", async (model, spelled) => {
    const server = await serve({ script: text("Hi.") });
    expect((await ask(server, { ...AWS_KEYS, AWS_SESSION_TOKEN: "a session" }, model)).blocks).toEqual([
      { type: "text", text: "Hi." },
    ]);
    const [{ path, headers } = expect.fail()] = server.requests;
    expect(path).toBe(`/model/${spelled}/invoke-with-response-stream`);
    expect(headers["user-agent"]).toMatch(/^crux\/\d/);
    expect(headers.authorization).toContain("/eu-west-1/bedrock/aws4_request");
    expect(headers["x-amz-security-token"]).toBe("a session");
  });

  it("stream() and check() take an API key in place of a signature", async () => {
    const server = await serve({ script: text("Hi."), apiKey: "key-0123456789" });
    const env = { AWS_BEARER_TOKEN_BEDROCK: "key-0123456789" };
    expect((await ask(server, env)).stopReason).toBe("end_turn");
    expect(await bedrockDriver({ ...envOf(server), ...env }).check(none)).toEqual({ ok: true });
    expect(server.sideRequests.map(({ path }) => path)).toEqual([
      "/model/global.anthropic.claude-haiku-5-5/count-tokens",
    ]);
    expect(
      await bedrockDriver({ ...envOf(server), AWS_BEARER_TOKEN_BEDROCK: "other" }).check(none),
    ).toMatchObject({
      ok: false,
      error: { kind: "auth" },
    });
  });

  it("stream() reads the keys of a profile anew for each request", async () => {
    const folder = await mkdtemp(join(tmpdir(), "crux-aws-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [credentials, config] = [join(folder, "credentials"), join(folder, "config")];
    const env = { AWS_PROFILE: "work", AWS_SHARED_CREDENTIALS_FILE: credentials, AWS_CONFIG_FILE: config };
    const server = await serve({ script: () => text("Hi.") });
    const driver = bedrockDriver({ ...envOf(server), ...env });
    const asked = () => fold(driver.stream(contractRequest(), none));
    await expect(asked()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("work"),
    });
    const keys = (secret: string) => `aws_access_key_id = AKIDEXAMPLE\naws_secret_access_key=${secret}\n`;
    await writeFile(credentials, `[default]\n${keys("x")}[ other ]\n`);
    await writeFile(config, `[profile work]\ns3 =\n  aws_secret_access_key = nested\n${keys("wrong")}`);
    await expect(asked()).rejects.toMatchObject({ kind: "auth" });
    await writeFile(config, `[profile work]\n${keys(AWS_KEYS.AWS_SECRET_ACCESS_KEY)}`);
    expect((await asked()).stopReason).toBe("end_turn");
  });

  it("stream() tells of a missing region before anything is sent", async () => {
    const server = await serve({ script: text("") });
    await expect(ask(server, { ...AWS_KEYS, AWS_REGION: "" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "AWS_REGION is not set",
    });
    expect(server.requestCount).toBe(0);
  });

  it.each([
    [429, undefined, "rate_limit"],
    [503, undefined, "overloaded"],
    [408, undefined, "timeout"],
    [424, undefined, "server"],
    [400, "Input is too long for requested model.", "prompt_too_long"],
    [400, "messages: at least one is required", "invalid"],
  ])("stream() maps an exception of %i within the stream (%s)", async (status, message, kind) => {
    const words = message === undefined ? {} : { message };
    const server = await serve({
      script: text("Hello.").fail(error(status, undefined, words.message), { afterEvents: 2 }),
    });
    await expect(ask(server, AWS_KEYS)).rejects.toMatchObject({ kind });
  });
});

describe("bedrockDriver() with refused credentials", () => {
  it.each([
    [
      "Authentication failed: Please make sure your API Key is valid.",
      { AWS_BEARER_TOKEN_BEDROCK: "a-bearer" },
      "AWS_BEARER_TOKEN_BEDROCK",
    ],
    ["The security token included in the request is expired", AWS_KEYS, "aws configure export-credentials"],
  ])("takes %j as such", async (message, env, hint) => {
    const { url } = await serve({ script: error(403, undefined, message) });
    const driver = bedrockDriver({ AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: url, ...env });
    const reply = fold(driver.stream(contractRequest({ model: "sonnet" }), new AbortController().signal));
    await expect(reply).rejects.toMatchObject({ kind: "auth", hint: expect.stringContaining(hint) });
  });
});

describe("readEventStream()", () => {
  const frame = (message: string): Buffer =>
    Buffer.from(bedrockErrorFrame(apiError(429, { message })), "latin1");
  const read = async (pieces: readonly Buffer[]): Promise<unknown[]> => {
    const left = pieces.values();
    const next = async () => {
      const { value } = left.next();
      return value === undefined ? ({ done: true, value } as const) : { done: false, value };
    };
    const found: unknown[] = [];
    for await (const data of readEventStream({ next, close: () => {} })) found.push(JSON.parse(data).message);
    return found;
  };

  it("takes messages that come together, and drops one that was cut off", async () => {
    const all = Buffer.concat([frame("one"), frame("two"), frame("three").subarray(0, -1)]);
    expect(await read([all])).toEqual(["one", "two"]);
  });

  it("copies each byte at most three times, however small the pieces are", async () => {
    const long = frame("x".repeat(1_000_000));
    const pieces = Array.from(long, (_, at) => long.subarray(at, at + 1));
    const concat = vi.spyOn(Buffer, "concat");
    onTestFinished(() => concat.mockRestore());
    const [message] = await read(pieces);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect((message as string).length).toBe(1_000_000);
    expect(copied).toBeLessThan(3 * long.length);
  });

  it.each([
    ["a wrong length", 2, "checksum of a length"],
    ["a changed payload", 60, "checksum is wrong"],
  ])("refuses %s", async (_what, at, words) => {
    const bytes = frame("a message of some length, so that byte 60 is in it");
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await expect(read([bytes])).rejects.toMatchObject({
      kind: "stream_malformed",
      message: expect.stringContaining(words),
    });
  });

  it("refuses a message of more than 2 MiB before it has come", async () => {
    const head = frame("x".repeat(2 * 1024 * 1024)).subarray(0, 12);
    await expect(read([head])).rejects.toMatchObject({ kind: "stream_malformed" });
  });
});
