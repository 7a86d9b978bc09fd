/** One line of `--input-format stream-json`. Pure. */
import { PICTURES, type Picture, wrongPictures } from "../../abi/media/pictures.ts";
import type { Json } from "./json-schema.ts";

/** A message of the user. */
export interface Said {
  /** "": it has pictures only. */
  readonly text: string;
  readonly media?: Picture[];
  /** The uuid of its line, if it has one. */
  readonly uuid?: string;
}

export type UserLine =
  | ({ readonly kind: "message" } & Said)
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
  const read = messageOf(message.content);
  const { uuid } = value;
  return read.kind === "message" && typeof uuid === "string" && UUID.test(uuid) ? { ...read, uuid } : read;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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

function messageOf(content: Json | undefined): UserLine {
  const parts: string[] = [];
  const media: Picture[] = [];
  if (typeof content === "string") parts.push(content);
  else if (!Array.isArray(content)) return bad("message.content: must be a text or a list of blocks");
  else
    for (const [at, block] of content.entries()) {
      const found = isRecord(block) ? (textOf(block) ?? pictureOf(block)) : undefined;
      if (typeof found === "string") parts.push(found);
      else if (found !== undefined) media.push(found);
      else return bad(`message.content[${at}]: must be a text block, or an image block of base64: ${TYPES}`);
    }
  const wrong = wrongPictures(media);
  if (wrong !== undefined) return bad(`message.content: ${wrong}`);
  const text = parts.join("\n");
  if (media.length > 0) return { kind: "message", text, media };
  return text.trim() === "" ? bad("message.content: the message is empty") : { kind: "message", text };
}

const TYPES = PICTURES.types.join(", ");

function textOf({ type, text }: Fields): string | undefined {
  return type === "text" && typeof text === "string" ? text : undefined;
}

function pictureOf({ type, source }: Fields): Picture | undefined {
  if (type !== "image" || !isRecord(source) || source.type !== "base64") return undefined;
  const media_type = PICTURES.types.find((known) => known === source.media_type);
  const { data } = source;
  return media_type === undefined || typeof data !== "string" ? undefined : { type, media_type, data };
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
