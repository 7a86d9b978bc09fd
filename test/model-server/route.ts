/** Paths are matched by their end, so a base URL may carry a prefix, and the chat one a `/v1` or none. */
import type { IncomingHttpHeaders } from "node:http";
import type { DialectName } from "./request.ts";

export type Route =
  | { readonly to: "model"; readonly dialect: DialectName }
  | { readonly to: "count"; readonly dialect: "anthropic" | "bedrock" }
  | { readonly to: "models"; readonly dialect: DialectName; readonly id: string | undefined }
  | { readonly to: "show" | "version"; readonly dialect: "ollama" }
  | { readonly to: "wrong method"; readonly dialect: DialectName }
  | { readonly to: "unknown"; readonly dialect: DialectName };

const chatPath = /\/chat\/completions$/;
const responsesPath = /\/responses$/;
const vertexPath = /\/publishers\/anthropic\/models\/[^/]+:(streamRawPredict|rawPredict)$/;
const bedrockPath = /\/model\/[^/]+\/(invoke|invoke-with-response-stream|count-tokens)$/;
const geminiPath = /\/models\/[^/]+:(streamGenerateContent|generateContent)$/;
const messagesPath = /\/v1\/messages(\/count_tokens)?$/;
const modelsPath = /\/models(?:\/([^/]+))?$/;
/** Endpoints of the chat vendor that this server does not have; their 404 is worded its way. */
const otherOpenaiPath = /\/(embeddings|completions|files|batches|moderations)(\/|$)/;

export function findRoute(method: string, path: string, headers: IncomingHttpHeaders): Route {
  if (method === "HEAD" || method === "OPTIONS") return { to: "unknown", dialect: "anthropic" };
  const isPost = method === "POST";
  if (chatPath.test(path)) return { to: isPost ? "model" : "wrong method", dialect: "openai" };
  if (responsesPath.test(path)) return { to: isPost ? "model" : "wrong method", dialect: "responses" };
  if (vertexPath.test(path)) return { to: isPost ? "model" : "wrong method", dialect: "anthropic" };
  const invoked = bedrockPath.exec(path)?.[1];
  if (invoked === "count-tokens" && isPost) return { to: "count", dialect: "bedrock" };
  if (invoked !== undefined) return { to: isPost ? "model" : "wrong method", dialect: "bedrock" };
  if (geminiPath.test(path)) return { to: isPost ? "model" : "wrong method", dialect: "gemini" };
  const own = /\/api\/(chat|show|tags|version)$/.exec(path)?.[1];
  if (own === "tags") return { to: "models", dialect: "ollama", id: undefined };
  if (own === "version") return { to: "version", dialect: "ollama" };
  if (own !== undefined && !isPost) return { to: "wrong method", dialect: "ollama" };
  if (own !== undefined) return { to: own === "chat" ? "model" : "show", dialect: "ollama" };
  const messages = messagesPath.exec(path);
  if (messages !== null) {
    if (!isPost) return { to: "wrong method", dialect: "anthropic" };
    return messages[1] === undefined
      ? { to: "model", dialect: "anthropic" }
      : { to: "count", dialect: "anthropic" };
  }
  const models = path.startsWith("/api/") ? null : modelsPath.exec(path);
  if (models !== null && method === "GET") {
    const isAnthropic = "anthropic-version" in headers || "x-api-key" in headers;
    const dialect = isAnthropic ? "anthropic" : "x-goog-api-key" in headers ? "gemini" : "openai";
    return { to: "models", dialect, id: models[1] };
  }
  return { to: "unknown", dialect: otherOpenaiPath.test(path) ? "openai" : "anthropic" };
}

/** The key a client sent, whichever way; undefined when none. */
export function findKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["x-api-key"] ?? headers["x-goog-api-key"];
  if (typeof key === "string") return key;
  return /^Bearer\s+(.+)$/i.exec(headers.authorization ?? "")?.[1];
}
