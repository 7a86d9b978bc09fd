/** A model request, the same for every dialect. What the body does not hold becomes empty, never an error. */
import type { IncomingHttpHeaders } from "node:http";
import { parseAnthropic } from "./anthropic/parse.ts";
import type { CacheUse } from "./anthropic/prompt-cache.ts";
import type { RequestContent, RequestMessage, ToolResult } from "./content.ts";
import { geminiTarget, parseGemini } from "./gemini/parse.ts";
import type { JsonObject } from "./json.ts";
import { parseOllama } from "./ollama/parse.ts";
import { parseOpenai } from "./openai/parse.ts";
import { parseResponses } from "./responses/parse.ts";

export type DialectName = "anthropic" | "openai" | "responses" | "gemini" | "ollama" | "bedrock";

export interface HttpRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
}

export interface ModelRequest extends HttpRequest, RequestContent {
  readonly dialect: DialectName;
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  /** How many requests the script answered before this one, on the whole server. */
  readonly turn: number;
  /** How many assistant messages this conversation holds: its own turn count. */
  readonly assistantTurns: number;
  /** What its prompt cache reads and writes, if the server has one. */
  readonly cache?: CacheUse;
  /** What the user said in the last message that has any of it. */
  readonly lastUserText: string;
  /** Results in the last message; empty when it holds none. */
  readonly lastToolResults: readonly ToolResult[];
}

const parsers = {
  anthropic: parseAnthropic,
  bedrock: parseAnthropic,
  openai: parseOpenai,
  responses: parseResponses,
  gemini: parseGemini,
  ollama: parseOllama,
} as const;

export function readRequest(
  http: HttpRequest,
  dialect: DialectName,
  body: JsonObject,
  turn: number,
): ModelRequest {
  const content = parsers[dialect](body);
  const { messages } = content;
  const named = {
    model: typeof body.model === "string" ? body.model : "",
    // Ollama streams unless it is told not to
    stream: dialect === "ollama" ? body.stream !== false : body.stream === true,
  };
  return {
    ...http,
    ...content,
    dialect,
    body,
    ...(dialect === "gemini" ? geminiTarget(http.path) : named),
    turn,
    assistantTurns: messages.filter((message) => message.role === "assistant").length,
    lastUserText: findUserText(messages),
    lastToolResults: (messages.at(-1)?.content ?? []).filter((block) => block.type === "tool_result"),
  };
}

/** What the user said in a message: its texts without what an agent is reminded of before them. */
export function userTexts({ content }: RequestMessage): string[] {
  return content.flatMap((block) => {
    const said = block.type === "text" ? block.text.replace(REMINDER, "") : "";
    return said === "" ? [] : [said];
  });
}

const REMINDER = /^<system-reminder>\n.*?\n<\/system-reminder>(?:\n|$)/s;

function findUserText(messages: readonly RequestMessage[]): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]!;
    if (message.role !== "user") continue;
    const texts = userTexts(message);
    if (texts.length > 0) return texts.join("\n");
  }
  return "";
}
