/**
 * Records which words, openings and redirections of the scanner the walk has visited. In the end all must be visited,
 * and both readers must agree on each.
 */
import type { Node } from "web-tree-sitter";
import type { Scan, ScannedWord } from "./scanned.ts";
import { Unread } from "./unread.ts";

export class Claims {
  readonly #text: string;
  readonly #scan: Scan;
  readonly #words = new Set<number>();
  readonly #opens = new Set<number>();
  readonly #redirects = new Set<number>();

  constructor(text: string, scan: Scan) {
    this.#text = text;
    this.#scan = scan;
  }

  open(node: Node): void {
    if (this.#scan.opens.get(node.startIndex) !== node.endIndex)
      throw new Unread(`${JSON.stringify(node.text.slice(0, 20))}, which is read in two ways`);
    this.#opens.add(node.startIndex);
  }

  word(start: number, end: number): ScannedWord {
    const word = this.#scan.words.get(start);
    if (word?.end !== end)
      throw new Unread(
        `${JSON.stringify(this.#text.slice(start, Math.min(end, start + 20)))}, which is read in two ways`,
      );
    this.#words.add(start);
    return word;
  }

  /** Claims a token that the scanner may have read as a word: keywords are words for the scanner. */
  token(node: Node): void {
    if (this.#scan.words.get(node.startIndex)?.end === node.endIndex) this.#words.add(node.startIndex);
  }

  /** The words on the node's own level, in order, without those in substitutions. */
  wordsWithin(node: Node): readonly ScannedWord[] {
    const opens = [...this.#scan.opens].filter(([start]) => start >= node.startIndex);
    const isNested = (at: number) => opens.some(([start, end]) => start < at && at < end);
    const own = [...this.#scan.words].filter(
      ([at, { end }]) => at >= node.startIndex && end <= node.endIndex && !isNested(at),
    );
    return own.sort(([a], [b]) => a - b).map(([at, { end }]) => this.word(at, end));
  }

  /** Claims the redirection with its `<` or `>` at this position. */
  redirect(at: number): void {
    this.#redirects.add(at);
  }

  /** Throws unless only blanks separate the parts of the command. */
  adjacent(node: Node): void {
    node.children.forEach(({ startIndex }, i, all) => {
      const gap = this.#text.slice(all[i - 1]?.endIndex ?? startIndex, startIndex);
      if (!/^[ \t]*$/.test(gap)) throw new Unread("a command that ends otherwise than it seems");
    });
  }

  /** Throws if the scanner has read more than the walk. */
  checkAll(): void {
    const words = [...this.#scan.words.keys()].filter((at) => !this.#words.has(at));
    const opens = [...this.#scan.opens.keys()].filter((at) => !this.#opens.has(at));
    const redirects = [...this.#scan.redirects].filter((at) => !this.#redirects.has(at));
    const missed = [...words, ...opens, ...redirects].sort((a, b) => a - b)[0];
    if (missed !== undefined)
      throw new Unread(`what begins at ${JSON.stringify(this.#text.slice(missed, missed + 20))}`);
  }
}
