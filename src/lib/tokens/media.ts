/** Estimates the tokens of images and documents. */
import { findImage } from "../image-head.ts";

export interface Medium {
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** Of an image whose size is not known, and the least of a document. */
const USUAL = 2_000;
const PIXELS_A_TOKEN = 750;
/** Of a document: its pages are not counted. */
const TOKENS_A_CHARACTER = 0.125;
const MOST = 30_000;
/** The base64 in which the size of an image is looked for. */
const HEAD_CHARS = 87_384;

export function mediaTokens(media: readonly Medium[]): number {
  return media.reduce((sum, medium) => sum + Math.min(MOST, tokensOf(medium)), 0);
}

function tokensOf({ type, data }: Medium): number {
  if (type === "document") return Math.max(USUAL, Math.ceil(data.length * TOKENS_A_CHARACTER));
  const { width = 0, height = 0 } = findImage(Buffer.from(data.slice(0, HEAD_CHARS), "base64")) ?? {};
  return width > 0 && height > 0 ? Math.ceil((width * height) / PIXELS_A_TOKEN) : USUAL;
}
