import { createVerify, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { GoogleToken } from "../../src/llm/vertex/token.ts";
import { vertexDriver } from "../../src/llm/vertex/vertex.ts";
import { text } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { API_ERRORS, serve, serverRig, TEXT_STOPS } from "./rig.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = privateKey.export({ type: "pkcs8", format: "pem" });

/** Google's token endpoint: it checks what it is asked as the vendor does, and counts. */
async function tokenServer() {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    asked.push(form);
    const isGood =
      form.get("grant_type") === "refresh_token"
        ? form.get("refresh_token") === "fresh"
        : isSigned(form.get("assertion") ?? "", uri());
    response.writeHead(isGood ? 200 : 400, { "content-type": "application/json" });
    const refusal = { error: "invalid_grant", error_description: "Invalid JWT Signature." };
    const token = { access_token: `token-${asked.length}`, expires_in: 3599, token_type: "Bearer" };
    response.end(JSON.stringify(isGood ? token : refusal));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const uri = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { asked, uri: uri(), close };
}

function isSigned(assertion: string, audience: string): boolean {
  const [head = "", claims = "", signature = ""] = assertion.split(".");
  const { aud, iss, scope, iat, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
  const isRight =
    aud === audience && iss === "robot@p.iam" && /cloud-platform/.test(scope) && exp - iat === 3600;
  const verify = createVerify("RSA-SHA256").update(`${head}.${claims}`);
  return isRight && verify.verify(publicKey, Buffer.from(signature, "base64url"));
}

/** A folder with credentials, which ends with `done`. */
async function credentials(token_uri: string, more: object = {}) {
  const folder = await mkdtemp(join(tmpdir(), "crux-vertex-"));
  const file = join(folder, "key.json");
  const account = {
    type: "service_account",
    client_email: "robot@p.iam",
    private_key: key,
    token_uri,
    ...more,
  };
  await writeFile(file, JSON.stringify(account));
  return { file, done: () => rm(folder, { recursive: true }) };
}

async function place(more: object = {}) {
  const tokens = await tokenServer();
  const { file, done } = await credentials(tokens.uri, more);
  const leave = async (): Promise<void> => {
    await tokens.close();
    await done();
  };
  const env = (server: ModelServer) => ({
    ANTHROPIC_VERTEX_PROJECT_ID: "my-project",
    CLOUD_ML_REGION: "europe-west1",
    VERTEX_BASE_URL: `${server.url}/v1`,
    GOOGLE_APPLICATION_CREDENTIALS: file,
  });
  return { tokens, env, leave };
}

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
