/** Google's credentials for a test: a key file, and the endpoint that gives a token for it. */
import { createVerify, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelServer } from "../model-server/server.ts";

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

/** `leave` ends the endpoint and removes the file; `more`: changes to the credentials. */
export async function place(more: object = {}) {
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
