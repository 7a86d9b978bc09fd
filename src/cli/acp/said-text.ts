/**
 * The text of a reply on its way to an editor, which cannot take back what it was sent. An attempt that broke off is
 * repeated: what was sent of it already is not sent again, unless the model now says something else.
 */
type TextKind = "text" | "thinking";

export interface Piece {
  readonly kind: TextKind;
  readonly text: string;
}

interface Sent {
  readonly kind: TextKind;
  readonly chunks: string[];
}

export class SaidText {
  /** By the index of the block in the reply. */
  readonly #sent = new Map<number, Sent>();
  /** The text of this attempt. */
  readonly #coming = new Map<number, Sent>();
  /** A whole reply that was sent at its end; what tells of it again is not sent. "": none. */
  #given = "";

  /** A new attempt at the same reply. */
  restart(): void {
    this.#coming.clear();
  }

  /** The next part of a block; undefined: it was sent before. */
  add(index: number, kind: TextKind, text: string): Piece | undefined {
    const coming = this.#coming.get(index) ?? { kind, chunks: [] };
    this.#coming.set(index, coming);
    coming.chunks.push(text);
    const sent = this.#sent.get(index);
    if (sent === coming) return { kind, text };
    return this.#advance(index, coming, sent);
  }

  /** The whole block; undefined: all of it was sent. */
  whole(index: number, kind: TextKind, text: string): Piece | undefined {
    return this.#advance(index, { kind, chunks: [text] }, this.#sent.get(index));
  }

  /**
   * What is missing of a whole reply, of whose text blocks nothing else is known; undefined: nothing. Its own pieces may still
   * come, until `forget`.
   */
  rest(text: string): Piece | undefined {
    this.#given = text;
    const sent = [...this.#sent.values()].filter(({ kind }) => kind === "text");
    const before = sent.flatMap(({ chunks }) => chunks).join("");
    return text.startsWith(before)
      ? { kind: "text", text: text.slice(before.length) }
      : { kind: "text", text };
  }

  /** The reply is over. */
  clear(): void {
    this.#sent.clear();
    this.#coming.clear();
  }

  /** From here on a reply is another one. */
  forget(): void {
    this.#given = "";
  }

  #advance(index: number, coming: Sent, sent: Sent | undefined): Piece | undefined {
    const text = coming.chunks.join("");
    const before = sent?.kind === coming.kind ? sent.chunks.join("") : "";
    if (before.startsWith(text) || (coming.kind === "text" && this.#given.includes(text))) return undefined;
    this.#sent.set(index, coming);
    if (text.startsWith(before)) return { kind: coming.kind, text: text.slice(before.length) };
    return { kind: coming.kind, text: `\n\n${text}` };
  }
}
