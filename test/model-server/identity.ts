/**
 * Identifiers as the vendors shape them. Each server has a salt of its own, so that a history that began
 * on one server never meets the same id again on another one; a fixed `seed` makes them repeatable.
 */
import { createHash, randomBytes } from "node:crypto";

export class Mint {
  readonly #salt: string;
  #count = 0;

  constructor(seed?: string) {
    const source = seed === undefined ? randomBytes(8) : createHash("sha256").update(seed).digest();
    this.#salt = source.toString("hex").slice(0, 12);
  }

  /** `prefix` plus 24 characters, unique on this server. */
  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#salt}${this.#count.toString(36).padStart(12, "0")}`;
  }
}

const signatureMark = "model-server";

/** The signature of a thinking block: bound to the model and to every byte of the thinking, as the vendor's is. */
export function sign(model: string, thinking: string): string {
  const digest = createHash("sha256").update(`${model}\n${thinking}`).digest("hex");
  return Buffer.from(`${signatureMark}:${digest}`).toString("base64");
}
