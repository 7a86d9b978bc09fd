/** Messages on Amazon's platform: the model stands in the path, the version in the body, and the request is signed. */
import { createHash, createHmac } from "node:crypto";
import { type ApiError, apiError, invalidRequest } from "../error.ts";
import { isObject, type JsonObject, stringOf } from "../json.ts";
import type { HttpRequest } from "../request.ts";
import type { SideAnswer } from "../side.ts";

const version = "bedrock-2023-05-31";
/** The keys of Amazon's own examples. */
export const AWS_KEYS = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
} as const;

/** The request as the vendor's own interface has it; an error: what the platform refuses. */
export function invokeRequest(
  http: HttpRequest,
  body: JsonObject,
): { readonly http: HttpRequest; readonly body: JsonObject } | ApiError {
  const [, model = "", verb] = /\/model\/([^/]+)\/([^/]+)$/.exec(http.path) ?? [];
  const id = decodeURIComponent(model);
  const { anthropic_version: told, anthropic_beta: betas = [], ...rest } = body;
  if (!/^([a-z-]+\.)?anthropic\.claude-|^arn:aws:bedrock:/.test(id))
    return invalidRequest("The provided model identifier is invalid.");
  if (told !== version) return invalidRequest(`anthropic_version: Input should be '${version}'`);
  for (const name of ["model", "stream"])
    if (rest[name] !== undefined) return invalidRequest(`${name}: Extra inputs are not permitted`);
  if (!Array.isArray(betas)) return invalidRequest("anthropic_beta: Input should be a valid list");
  const headers = { ...http.headers, "anthropic-version": version, "anthropic-beta": betas.join(",") };
  return { http: { ...http, headers }, body: { model: id, stream: verb !== "invoke", ...rest } };
}

/** CountTokens: the request that would be made, in base64. */
export function countInvoke(http: HttpRequest, body: JsonObject): SideAnswer {
  const input = isObject(body.input) ? body.input : {};
  const invoke = isObject(input.invokeModel) ? stringOf(input.invokeModel.body) : "";
  const asked: unknown = JSON.parse(Buffer.from(invoke, "base64").toString() || "null");
  const checked = isObject(asked) ? invokeRequest(http, asked) : invalidRequest("body: Field required");
  if (!("body" in checked)) return { kind: "error", error: checked };
  return { kind: "ok", body: { inputTokens: Math.ceil(invoke.length / 4) } };
}

/** What the platform says of a request's signature, or of its bearer token; undefined: it is right. */
export function refuseSignature(http: HttpRequest, apiKey: string | undefined): ApiError | undefined {
  const { authorization = "", host = "", "x-amz-date": time = "" } = http.headers;
  if (/^Bearer /.test(authorization))
    return apiKey === undefined || authorization === `Bearer ${apiKey}` ? undefined : apiError(403, wrongKey);
  const form =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/bedrock\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/;
  const [, id, date = "", region = "", names = "", signature] = form.exec(authorization) ?? [];
  if (id === undefined) return apiError(403, { message: "Missing Authentication Token" });
  if (id !== AWS_KEYS.AWS_ACCESS_KEY_ID) return apiError(403, wrongKey);
  const canonical = [
    http.method,
    http.path.split("/").map(encodeURIComponent).join("/"),
    http.query,
    ...names
      .split(";")
      .map((name) => `${name}:${name === "host" ? host : String(http.headers[name])}\n`)
      .join("")
      .split("\n"),
    names,
    createHash("sha256").update(http.rawBody).digest("hex"),
  ].join("\n");
  const hash = createHash("sha256").update(canonical).digest("hex");
  const text = `AWS4-HMAC-SHA256\n${String(time)}\n${date}/${region}/bedrock/aws4_request\n${hash}`;
  let key: string | Buffer = `AWS4${AWS_KEYS.AWS_SECRET_ACCESS_KEY}`;
  for (const part of [date, region, "bedrock", "aws4_request", text])
    key = createHmac("sha256", key).update(part).digest();
  const isRight = Buffer.from(key).toString("hex") === signature;
  return isRight
    ? undefined
    : apiError(403, { message: "The request signature we calculated does not match" });
}

const wrongKey = { message: "The security token included in the request is invalid." };
