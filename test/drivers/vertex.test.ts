import { describe, expect, it, onTestFinished } from "vitest";
import type { LlmError } from "../../src/abi/llm-error.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { GoogleToken } from "../../src/llm/vertex/token.ts";
import { vertexDriver } from "../../src/llm/vertex/vertex.ts";
import { error, text } from "../model-server/reply.ts";
import { place } from "./google.ts";
import { API_ERRORS, serve, serverRig, TEXT_STOPS } from "./rig.ts";

let leave: () => Promise<void> = async () => {};
driverContract(
  serverRig({
    name: "vertex",
    connect: async (server) => {
      const here = await place();
      leave = here.leave;
      return vertexDriver(here.env(server));
    },
    dispose: () => leave(),
    stops: TEXT_STOPS,
    errors: API_ERRORS,
    can: { thinking: true, retryAfter: true, interleave: true },
  }),
);

describe("vertexDriver()", () => {
  const none = new AbortController().signal;
  const placed = async (more: object = {}) => {
    const here = await place(more);
    onTestFinished(here.leave);
    return here;
  };

  it.each([
    ["claude-sonnet-5-5", "/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict"],
    ["gemini-4-hydrogen", "/publishers/google/models/gemini-4-hydrogen:streamGenerateContent"],
  ])("stream() asks %s by its vendor's wire, with one token", async (model, path) => {
    const { tokens, env } = await placed();
    const server = await serve({ script: text("Hi."), apiKey: "token-1", verifySignatures: true });
    const driver = vertexDriver(env(server));
    for (let n = 0; n < 2; n++) {
      const { blocks } = await fold(driver.stream(contractRequest({ model }), none));
      expect(blocks[0]).toEqual({ type: "text", text: "Hi." });
    }
    expect(server.requests[0]!.path).toBe(`/v1/projects/my-project/locations/europe-west1${path}`);
    expect(server.requests[0]!.headers["user-agent"]).toMatch(/^crux\/\d/);
    expect(tokens.asked).toHaveLength(1);
    expect(server.rejected).toEqual([]);
  });

  it("get() takes a new token when the old one ends, and the user's own credentials", async () => {
    const { tokens, env } = await placed({ type: "authorized_user", refresh_token: "fresh" });
    let now = 0;
    const token = new GoogleToken(env(await serve({ script: text("") })), "/dev/llm/vertex", () => now);
    expect([await token.get(none), await token.get(none)]).toEqual(["token-1", "token-1"]);
    now = 3_540_000;
    expect(await token.get(none)).toBe("token-2");
    expect(tokens.asked[0]!.get("grant_type")).toBe("refresh_token");
  });

  it("stream() lets a token that was kept and is refused be taken anew, once", async () => {
    const { tokens, env } = await placed();
    let refused = 0;
    const script = () => (refused-- > 0 ? error(401) : text("Hi."));
    const driver = vertexDriver(env(await serve({ script })));
    const ask = () => fold(driver.stream(contractRequest(), none)).catch((failure: unknown) => failure);
    await ask();
    refused = 2;
    expect(await ask()).toMatchObject({ kind: "auth", shouldRetry: true });
    const second = (await ask()) as LlmError;
    expect([second.kind, second.shouldRetry]).toEqual(["auth", undefined]);
    expect([second.message, second.hint]).toEqual([
      expect.stringMatching(/^Vertex refused the credentials \(401: /),
      expect.stringContaining("gcloud auth application-default login"),
    ]);
    expect(await ask()).toMatchObject({ blocks: [{ text: "Hi." }] });
    expect(tokens.asked).toHaveLength(3);
  });

  it("stream() tells of refused credentials, and of none", async () => {
    const { env } = await placed({ client_email: "other@p.iam" });
    const server = await serve({ script: text("") });
    const ask = (more: object) =>
      fold(vertexDriver({ ...env(server), ...more }).stream(contractRequest(), none));
    await expect(ask({})).rejects.toMatchObject({
      kind: "auth",
      message: "Google refused the credentials (400: Invalid JWT Signature.)",
    });
    await expect(ask({ GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("gcloud auth application-default login"),
    });
    await expect(ask({ ANTHROPIC_VERTEX_PROJECT_ID: "" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(server.requestCount).toBe(0);
  });
});
