/** Pictures in a message of the user: their bounds, and the lines that stand for them where only text is shown. */
import type { MediaPart } from "../tool.ts";

export const PICTURES = {
  types: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  /** The most in one message. */
  count: 8,
  /** The most bytes of all pictures of one message: so many that the model is shown the newest message whole. */
  bytes: 4 * 1024 * 1024,
} as const;

/** A picture as clients send it. `data`: base64. */
export interface Picture extends MediaPart {
  readonly type: "image";
  readonly media_type: (typeof PICTURES.types)[number];
}

/** The reason why a message cannot have these pictures; undefined: it can. */
export function wrongPictures(pictures: readonly MediaPart[]): string | undefined {
  if (pictures.length > PICTURES.count) return `${pictures.length} pictures; at most ${PICTURES.count}`;
  const other = pictures.find((each) => each.type !== "image" || !isKnown(each.media_type));
  if (other !== undefined) return `${other.media_type}: a picture is one of ${PICTURES.types.join(", ")}`;
  if (pictures.some(({ data }) => !isBase64(data))) return "the data of a picture is not base64, or empty";
  const bytes = pictures.reduce((sum, { data }) => sum + bytesOf(data), 0);
  return bytes <= PICTURES.bytes ? undefined : `pictures of ${bytes} bytes; at most ${PICTURES.bytes}`;
}

/** The words of a message, and a line for each of its pictures: `[image 1: png, 12 KB]`. */
export function withPictureLines(words: string, pictures: readonly MediaPart[]): string {
  const lines = pictures.map(({ media_type, data }, i) => {
    const kind = media_type.slice(media_type.indexOf("/") + 1);
    return `[image ${i + 1}: ${kind}, ${Math.ceil(bytesOf(data) / 1024)} KB]`;
  });
  return (words.trim() === "" ? lines : [words, ...lines]).join("\n");
}

function isKnown(mediaType: string): boolean {
  return PICTURES.types.some((type) => type === mediaType);
}

/** Searches for what does not belong: with millions of characters, a match of all of them costs memory. */
function isBase64(data: string): boolean {
  const end = data.includes("=") ? data.slice(data.indexOf("=")) : "";
  const isWhole = data.length > 0 && data.length % 4 === 0 && ["", "=", "=="].includes(end);
  return isWhole && !/[^A-Za-z0-9+/=]/.test(data);
}

function bytesOf(data: string): number {
  return (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
}
