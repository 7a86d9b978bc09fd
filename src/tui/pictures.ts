/**
 * Pictures of a message that is typed: a mark like `[Image #1]` stands for each in the text, so it is edited, recalled and taken
 * back as the text is. They come by the path of a file that is pasted, as terminals do for a file that is dropped, or from the
 * clipboard.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { PICTURES, type Picture } from "../abi/media/pictures.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { CLIPBOARD_READERS, clipboardPicture } from "../cli/terminal/clipboard.ts";
import { findImage } from "../lib/image-head.ts";
import { insert } from "./editor/buffer.ts";
import type { Editing } from "./editor/edit.ts";
import type { Press } from "./editor/keys.ts";

interface Around {
  readonly call: { readonly host: { readonly env: NodeJS.ProcessEnv } };
  readonly words: Phrases;
  editing: Editing;
  hint(text: string): void;
  say(text: string, level: "error"): void;
}

/** Older ones are forgotten: their marks are then mere text. */
const MOST_KEPT = 4 * PICTURES.count;
const MAX_PATH_CHARS = 4_096;

export class Pictures {
  readonly #around: Around;
  /** By the number in their mark. */
  readonly #kept = new Map<number, Picture>();
  #count = 0;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Those whose marks are in the text. */
  of(text: string): Picture[] {
    const numbers = new Set([...text.matchAll(/\[Image #(\d{1,6})\]/g)].map(([, number]) => Number(number)));
    return [...numbers].flatMap((number) => this.#kept.get(number) ?? []);
  }

  /** False: what was pasted is text. */
  pasted(press: Press): boolean {
    const path = press.kind === "paste" ? pathIn(press.text) : undefined;
    return path !== undefined && this.#put(fileBytes(path));
  }

  async fromClipboard(): Promise<void> {
    const bytes = await clipboardPicture(this.#around.call.host.env, PICTURES.bytes);
    const { act } = this.#around.words;
    if (bytes === undefined) this.#around.say(act.noClipboard(CLIPBOARD_READERS.join(", ")), "error");
    else if (!this.#put(bytes)) this.#around.hint(act.noPicture);
  }

  /** False: it is not a picture, or larger than a message takes. */
  #put(bytes: Buffer | undefined): boolean {
    const head = bytes && findImage(bytes);
    if (bytes === undefined || head === undefined) return false;
    const data = bytes.toString("base64");
    this.#kept.set(++this.#count, { type: "image", media_type: head.mediaType, data });
    this.#kept.delete(this.#count - MOST_KEPT);
    const { editing } = this.#around;
    this.#around.editing = { ...editing, buffer: insert(editing.buffer, `[Image #${this.#count}]`) };
    return true;
  }
}

/** A path as terminals paste it: quoted, with blanks behind backslashes, or as a URL. */
function pathIn(pasted: string): string | undefined {
  const text = pasted.trim();
  if (text.length > MAX_PATH_CHARS || !/^[^\n]*\.(?:png|jpe?g|gif|webp)["']?$/i.test(text)) return undefined;
  try {
    if (text.startsWith("file://")) return fileURLToPath(text);
  } catch {
    return undefined;
  }
  const path = /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text.replace(/\\(.)/g, "$1");
  return isAbsolute(path) ? path : undefined;
}

/** undefined: not a file that can be read, or too large. */
function fileBytes(path: string): Buffer | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= PICTURES.bytes ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}
