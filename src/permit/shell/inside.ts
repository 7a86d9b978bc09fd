/**
 * Visits the inside of words and tests: substitutions, expansions, arithmetic. Here too, node types are an allow-list.
 */
import type { Node } from "web-tree-sitter";
import type { Claims } from "./claims.ts";
import { Unread } from "./unread.ts";

/** Callbacks for what is found inside a word. */
interface InsideVisitor {
  /** Commands whose output, or a file name for it, replaces the node. */
  substitution(node: Node): void;
  word(node: Node): unknown;
  /** Called when bash evaluates something that no rule covers; it concerns the surrounding command. */
  evaluates(why: string): void;
}

const MAX_DEPTH = 200;

/** Nodes that may be part of a word and need no handling of their own. */
const PLAIN = new Set(
  `word number raw_string ansi_c_string string string_content concatenation variable_name special_variable_name
   test_operator regex extglob_pattern heredoc_content brace_expression simple_expansion unary_expression
   binary_expression parenthesized_expression`.split(/\s+/),
);
const NUMERIC_TEST = /^-(?:v|R|eq|ne|lt|le|gt|ge)$/;

const ARITHMETIC = new Set(
  `arithmetic_expansion binary_expression unary_expression postfix_expression ternary_expression
   parenthesized_expression variable_assignment`.split(/\s+/),
);

export class Inside {
  /** Variables that only ever hold a literal integer. */
  readonly integers: ReadonlySet<string>;
  readonly #claims: Claims;
  readonly #host: InsideVisitor;
  #depth = 0;

  constructor(text: string, claims: Claims, host: InsideVisitor) {
    this.integers = integersIn(text);
    this.#claims = claims;
    this.#host = host;
  }

  /** Visits the commands inside a word, and what bash evaluates there. */
  visit(node: Node, isRoot = false): void {
    if (++this.#depth > MAX_DEPTH) throw new Unread("nested too deeply");
    switch (node.type) {
      case "command_substitution":
      case "process_substitution":
        this.#claims.open(node);
        this.#host.substitution(node);
        break;
      case "arithmetic_expansion":
        this.#claims.open(node);
        this.arithmetic(node);
        break;
      case "expansion":
        this.#claims.open(node);
        this.#expansion(node);
        break;
      case "subscript":
        this.#subscript(node);
        break;
      case "array":
        for (const child of node.namedChildren) if (child.type !== "comment") this.#host.word(child);
        break;
      default:
        if (!isRoot && node.isNamed && !PLAIN.has(node.type) && node.type !== "heredoc_body")
          throw new Unread(`a ${node.type.replaceAll("_", " ")} in a word`);
        for (const child of node.children) this.visit(child);
    }
    this.#depth--;
  }

  #expansion(node: Node): void {
    const types = node.children.map(({ type }) => type);
    if (types[1] === "!") this.#host.evaluates("an indirect expansion");
    if (types.includes("@")) this.#host.evaluates("an expansion that evaluates its value");
    if (types.includes(":=") || types.includes("=")) this.#host.evaluates("an expansion that assigns");
    const colon = types.indexOf(":");
    const isOdd = (child: Node, i: number) => i > colon && child.isNamed && child.type !== "number";
    if (colon >= 0 && node.children.some(isOdd)) this.#host.evaluates("arithmetic over a variable");
    for (const child of node.children) this.visit(child);
  }

  #subscript(node: Node): void {
    const index = node.childForFieldName("index");
    const isPlain = index === null || index.type === "number" || /^[@*]$/.test(index.text);
    if (!isPlain && !this.integers.has(index.text)) this.#host.evaluates("a subscript that is evaluated");
    for (const child of node.children) this.visit(child);
  }

  arithmetic(node: Node): void {
    if (++this.#depth > MAX_DEPTH) throw new Unread("nested too deeply");
    if (node.type === "variable_name" || node.type === "word") {
      if (!/^\d+$/.test(node.text) && !this.integers.has(node.text))
        this.#host.evaluates("arithmetic over a variable");
    } else if (node.type === "simple_expansion") {
      if (!this.integers.has(node.text.slice(1))) this.#host.evaluates("arithmetic over a variable");
    } else if (ARITHMETIC.has(node.type) || !node.isNamed)
      for (const child of node.children) this.arithmetic(child);
    else if (node.type !== "number") {
      this.#host.evaluates("arithmetic over a variable");
      this.visit(node);
    }
    this.#depth--;
  }
}

export function isWordLike(type: string): boolean {
  return (
    PLAIN.has(type) ||
    /^(?:expansion|command_substitution|process_substitution|arithmetic_expansion)$/.test(type)
  );
}

export function hasNumericTest(node: Node, integers: ReadonlySet<string>): boolean {
  const operator = node.children.find(
    ({ type, text }) => type === "test_operator" && NUMERIC_TEST.test(text),
  );
  const isOdd = (child: Node) =>
    child.isNamed && child.type !== "test_operator" && child.type !== "number" && !integers.has(child.text);
  if (operator !== undefined && node.children.some(isOdd)) return true;
  return node.namedChildren.some((child) => hasNumericTest(child, integers));
}

const ASSIGNED = /(?<![\w$])([A-Za-z_]\w*)([-+*/%]?=)(?!=)\s*([^\s;&|()]*)/g;
const SETS_OTHERWISE =
  /\b(?:for|select|read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|let|eval|source|trap|printf|wait|coproc|exec)\b|(?:^|[\s;&|(])\.\s/;

/** Variables that only ever hold a literal integer in a text: arithmetic over them starts nothing. */
function integersIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const others = new Set<string>();
  if (SETS_OTHERWISE.test(text.replace(/\bfor\s*\(\(/g, "(("))) return found;
  for (const [, name = "", , value = ""] of text.matchAll(ASSIGNED))
    (/^-?(?:0|[1-9]\d{0,17})$/.test(value) ? found : others).add(name);
  return new Set([...found].filter((name) => !others.has(name)));
}
