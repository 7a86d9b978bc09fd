/** One line of `--input-format stream-json`. Pure. */
import type { Json } from "./json-schema.ts";

export type UserLine =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "control"; readonly id: string; readonly asks: string; readonly with: Fields }
  /** To a question of ours; `response` is absent where it has failed. */
  | { readonly kind: "answer"; readonly id: string; readonly response: Fields | undefined }
  | { readonly kind: "blank" }
  | { readonly kind: "bad"; readonly why: string };

export type Fields = { readonly [key: string]: Json | undefined };

const bad = (why: string): UserLine => ({ kind: "bad", why });

export function userLine(line: string): UserLine {
  if (line.trim() === "") return { kind: "blank" };
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch (error) {
    return bad(`not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) return bad("not a JSON object");
  if (value.type === "control_request") return controlLine(value);
  if (value.type === "control_response") return answerLine(value);
  if (value.type !== "user") return bad(`type: must be "user", not ${JSON.stringify(value.type)}`);
  const { message } = value;
  if (!isRecord(message)) return bad("message: must be an object");
  if (message.role !== "user")
    return bad(`message.role: must be "user", not ${JSON.stringify(message.role)}`);
  return textOf(message.content);
}

function controlLine({ request_id, request }: Fields): UserLine {
  if (typeof request_id !== "string" || !isRecord(request) || typeof request.subtype !== "string")
    return bad("control_request: needs request_id and request.subtype");
  return { kind: "control", id: request_id, asks: request.subtype, with: request };
}

function answerLine({ response }: Fields): UserLine {
  if (!isRecord(response) || typeof response.request_id !== "string")
    return bad("control_response: needs response.request_id");
  const { request_id: id, subtype, response: said } = response;
  return { kind: "answer", id, response: subtype === "success" && isRecord(said) ? said : undefined };
}

function textOf(content: Json | undefined): UserLine {
  const parts: string[] = [];
  if (typeof content === "string") parts.push(content);
  else if (!Array.isArray(content)) return bad("message.content: must be a text or a list of blocks");
  else
    for (const [at, block] of content.entries()) {
      if (!isRecord(block) || block.type !== "text" || typeof block.text !== "string")
        return bad(`message.content[${at}]: must be a text block`);
      parts.push(block.text);
    }
  const text = parts.join("\n");
  return text.trim() === "" ? bad("message.content: the message is empty") : { kind: "message", text };
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
