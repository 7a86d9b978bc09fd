/** What an editor sends as a prompt, as the text and the pictures of a message; and how its run ended, as the answer. */
import type {
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  PromptResponse,
  ResourceLink,
} from "@agentclientprotocol/sdk";
import type { StopReason } from "../../abi/llm.ts";
import { PICTURES, type Picture, wrongPictures } from "../../abi/media/pictures.ts";
import { endingOf } from "../print/ending.ts";
import { invalid } from "../screen/errors.ts";
import { runError } from "./faults.ts";
import type { PromptEnd } from "./prompt-queue.ts";

/** A message of the user. */
interface Said {
  /** "": it has pictures only. */
  readonly text: string;
  readonly media: readonly Picture[];
}

/** INVALID: a kind of content that `initialize` does not offer. Blocks of text are separated by an empty line. */
export function saidIn(blocks: readonly ContentBlock[]): Said {
  const media = blocks.flatMap((block) => (block.type === "image" ? [pictureOf(block)] : []));
  const wrong = wrongPictures(media);
  if (wrong !== undefined) throw invalid(`prompt: ${wrong}`);
  const text = blocks.flatMap((block) => (block.type === "image" ? [] : [blockText(block)])).join("\n\n");
  return { text, media };
}

function pictureOf({ mimeType, data }: ImageContent): Picture {
  const media_type = PICTURES.types.find((known) => known === mimeType);
  if (media_type !== undefined) return { type: "image", media_type, data };
  throw invalid(`prompt: ${mimeType}: a picture is one of ${PICTURES.types.join(", ")}`);
}

function blockText(block: Exclude<ContentBlock, { type: "image" }>): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return linkLine(block);
    case "resource":
      return resourceText(block);
    case "audio":
      throw invalid("a prompt takes text, pictures and files, not audio: give the path of the file instead");
  }
}

/** One line without Markdown, so that no text in it can pass for a link. */
function linkLine({ name, uri, title, mimeType, size }: ResourceLink): string {
  return `resource_link${pairs({ name, uri, title, mimeType })}${typeof size === "number" ? ` size=${size}` : ""}`;
}

function resourceText({ resource }: EmbeddedResource): string {
  const { uri, mimeType } = resource;
  const head = `resource${pairs({ uri, mimeType })}`;
  if ("text" in resource) return `${head}\n${resource.text}`;
  return `${head} (not text: ${Buffer.byteLength(resource.blob, "base64")} bytes, left out)`;
}

function pairs(values: Readonly<Record<string, string | null | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => typeof value === "string")
    .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
    .join("");
}

/** Throws what the editor shows as a failure. */
export function promptResponse(end: PromptEnd): PromptResponse {
  if (end.kind === "cancelled") return { stopReason: "cancelled" };
  if (end.kind === "unseen") return { stopReason: "end_turn" };
  const { told } = end;
  const { terminalReason, errors } = endingOf(end.event, { isCalling: false, error: told.error });
  switch (terminalReason) {
    case "completed":
      return { stopReason: STOPS[told.stopReason ?? "end_turn"] ?? "end_turn" };
    case "max_turns":
      return { stopReason: "max_turn_requests" };
    case "aborted_streaming":
    case "aborted_tools":
      return { stopReason: "cancelled" };
  }
  if (told.stopReason === "refusal") return { stopReason: "refusal" };
  const cause = end.event.event === "idle" ? (end.event.error ?? told.error) : told.error;
  throw runError(cause, errors[0] ?? terminalReason, terminalReason);
}

const STOPS: Readonly<Partial<Record<StopReason, PromptResponse["stopReason"]>>> = {
  max_tokens: "max_tokens",
  refusal: "refusal",
};
