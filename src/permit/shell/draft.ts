/** A simple command while it is being read. */
import type { Node } from "web-tree-sitter";
import type { Claims } from "./claims.ts";
import type { Assignment, Redirect } from "./command.ts";
import { decodeValue, decodeWord, type Known } from "./decode.ts";
import { type Inside, isWordLike } from "./inside.ts";
import type { HereDocument, ScannedWord } from "./scanned.ts";
import { Unread } from "./unread.ts";
import type { Word } from "./word.ts";

export interface Draft {
  readonly argv: Word[];
  readonly assignments: Assignment[];
  readonly redirects: Redirect[];
  input?: string;
  evaluates: string | null;
}

export function emptyDraft(): Draft {
  return { argv: [], assignments: [], redirects: [], evaluates: null };
}

/** The command that bash would redirect after `a && b` or `a | b`: the last one. */
export function lastCommand(node: Node): Node | undefined {
  if (node.type === "command") return node;
  if (node.type !== "list" && node.type !== "pipeline") return undefined;
  const last = node.namedChildren.at(-1);
  return last === undefined ? undefined : lastCommand(last);
}

/** Reads the nodes of a simple command, each word as the scanner read it. */
export class NodeReader {
  readonly #claims: Claims;
  readonly #inside: Inside;
  readonly #known: Known;

  constructor(claims: Claims, inside: Inside, known: Known) {
    this.#claims = claims;
    this.#inside = inside;
    this.#known = known;
  }

  /** The words that a word-like node becomes. */
  words(node: Node): readonly Word[] {
    if (
      node.isNamed &&
      node.type !== "command_name" &&
      node.type !== "variable_assignment" &&
      !isWordLike(node.type)
    )
      throw new Unread(`a ${node.type.replaceAll("_", " ")} where a word should be`);
    const word = this.#claims.word(node.startIndex, node.endIndex);
    this.#inside.visit(node, true);
    return this.#decoded(word);
  }

  /** The words that the scanner read within the node. */
  wordsWithin(node: Node): readonly Word[] {
    return this.#claims.wordsWithin(node).flatMap((word) => this.#decoded(word));
  }

  assign(node: Node, draft: Draft): void {
    const [name, , value] = node.children;
    if (name === undefined || node.type !== "variable_assignment") throw new Unread("an odd assignment");
    const word = this.#claims.word(node.startIndex, node.endIndex);
    this.#inside.visit(node, true);
    const operator = node.children[1]?.type ?? "";
    const isPlain = name.type === "variable_name" && operator === "=" && value?.type !== "array";
    const at = name.text.length + operator.length;
    const known = isPlain
      ? decodeValue(word.pieces.slice(at), this.#known)
      : decodeValue([{ kind: "unknown", isQuoted: true }], this.#known);
    const plainName = /^[A-Za-z_]\w*/.exec(name.text)?.[0] ?? name.text;
    draft.assignments.push({ name: plainName, value: known });
  }

  /** Words after the target are further targets for the grammar, but arguments for bash. */
  redirect(node: Node, draft: Draft): void {
    this.#claims.adjacent(node);
    const sign = node.children.find((child) => !child.isNamed);
    const operator = sign?.type ?? "";
    // the scanner reads the `&` of `&>` as the end of a command
    this.#claims.redirect((sign?.startIndex ?? 0) + (operator.startsWith("&") ? 1 : 0));
    const targets = node.namedChildren.filter(({ type }) => type !== "file_descriptor" && type !== "comment");
    const [first, ...others] = targets.map((child) => this.words(child));
    draft.argv.push(...others.flat());
    if (first !== undefined && first.length !== 1) throw new Unread("a redirection to several files");
    const target = first?.[0];
    if (node.type === "herestring_redirect") {
      if (target?.text != null) draft.input = target.text;
      return;
    }
    if (node.type !== "file_redirect") throw new Unread(`a ${node.type.replaceAll("_", " ")}`);
    const doubles = /&$/.test(operator) && /^(?:\d+-?|-)$/.test(target?.text ?? "");
    draft.redirects.push(target === undefined || doubles ? { operator } : { operator, target });
  }

  #decoded(word: ScannedWord): readonly Word[] {
    const words = decodeWord(word.pieces, this.#known);
    if (words === null) throw new Unread("too many words in braces");
    return words;
  }
}

/** Throws unless the tree and the scanner agree on the end of a here-document. */
export function checkEnd(text: string, { end }: HereDocument, node: Node): void {
  if (node.startIndex < end || !/^\t*$/.test(text.slice(end, node.startIndex)))
    throw new Unread("a here-document that is read in two ways");
}

/** The text that the command reads; null: bash expands something in it. */
export function plainInput(text: string, { start, end, isQuoted, stripsTabs }: HereDocument): string | null {
  const body = text.slice(start, end);
  if (!isQuoted && /[$`\\]/.test(body)) return null;
  return stripsTabs ? body.replace(/^\t+/gm, "") : body;
}

/** Whether the node is a statement: the grammar puts what follows on the same line below the here-document. */
export function isStatement({ type }: Node): boolean {
  return /^(?:pipeline|command|list|redirected_statement|subshell|compound_statement)$/.test(type);
}

/** Whether the command reads from the redirection. */
export function takesInput({ type, children }: Node): boolean {
  return type !== "file_redirect" || children.some((child) => child.type.startsWith("<"));
}
