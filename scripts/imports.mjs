// Finds what a TypeScript module imports, by its tokens: comments, strings and templates cannot fool it.

/**
 * `value` and `type` are static imports and re-exports; `dynamic` is `import("…")`, in types too.
 * @typedef {{ specifier: string, line: number, kind: "value" | "type" | "dynamic" }} Import
 */

/** @typedef {{ text: string, line: number, string: boolean }} Token */

// In this order: comments, strings, template pieces, words, regular expressions (only where one may stand), rest.
const blank = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const quoted = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const templatePiece = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{)/y;
const word = /[\p{ID_Start}$_#][\p{ID_Continue}$]*|\d[\w.]*/uy;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

/** Words after which a slash begins a regular expression, not a division. */
const beforeOperand = new Set(
  "return typeof case do else in of instanceof new void delete throw await yield default extends".split(" "),
);

/**
 * @param {string} text
 * @returns {Import[]}
 */
export function findImports(text) {
  const tokens = tokenize(text);
  /** @type {Import[]} */
  const found = [];
  for (const [at, token] of tokens.entries()) {
    if (token.string || tokens[at - 1]?.text === ".") continue;
    if (token.text !== "import" && token.text !== "export") continue;
    const specifier = token.text === "import" ? afterImport(tokens, at) : afterExport(tokens, at);
    if (specifier) found.push({ ...specifier, line: token.line });
  }
  return found;
}

/**
 * `import "x"`, `import("x")`, `import [type] … from "x"`.
 * @param {Token[]} tokens
 * @param {number} at
 */
function afterImport(tokens, at) {
  const next = tokens[at + 1];
  if (next?.string) return { specifier: next.text, kind: /** @type {const} */ ("value") };
  if (next?.text === ".") return undefined; // import.meta
  if (next?.text !== "(") return fromClause(tokens, at + 1);
  const argument = tokens[at + 2];
  return argument?.string ? { specifier: argument.text, kind: /** @type {const} */ ("dynamic") } : undefined;
}

/**
 * `export [type] { … } from "x"`, `export [type] * [as y] from "x"`; any other export has no specifier.
 * @param {Token[]} tokens
 * @param {number} at
 */
function afterExport(tokens, at) {
  const subject = tokens[at + 1]?.text === "type" ? tokens[at + 2] : tokens[at + 1];
  return subject?.text === "{" || subject?.text === "*" ? fromClause(tokens, at + 1) : undefined;
}

/**
 * @param {Token[]} tokens
 * @param {number} at the first token after the keyword
 */
function fromClause(tokens, at) {
  const second = tokens[at + 1]?.text;
  /** @type {"type" | "value"} */
  const kind = tokens[at]?.text === "type" && second !== "from" && second !== "," ? "type" : "value";
  for (let i = at; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined || token.text === ";" || token.text === "=") return undefined;
    const target = tokens[i + 1];
    if (token.text === "from" && !token.string && target?.string) {
      return { specifier: target.text, kind };
    }
    // `export { a }` without `from` ends at its brace
    if (token.text === "}" && target?.text !== "from") return undefined;
  }
  return undefined;
}

/**
 * @param {string} text
 * @returns {Token[]}
 */
function tokenize(text) {
  /** @type {Token[]} */
  const tokens = [];
  /** Open braces; true where the brace is a template's `${`. @type {boolean[]} */
  const braces = [];
  let at = 0;
  let line = 1;

  /** @param {RegExp} pattern */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match?.[0];
  };
  /** @param {string} piece */
  const countLines = (piece) => {
    for (const character of piece) if (character === "\n") line++;
  };
  const takeTemplate = () => {
    const piece = take(templatePiece) ?? text.slice(at);
    countLines(piece);
    if (piece.endsWith("${")) braces.push(true);
    else tokens.push({ text: "", line, string: false });
  };

  while (at < text.length) {
    const space = take(blank);
    if (space !== undefined) {
      countLines(space);
      continue;
    }
    const literal = take(quoted);
    if (literal !== undefined) {
      tokens.push({ text: literal.slice(1, -1), line, string: true });
      countLines(literal);
      continue;
    }
    const plain = take(word) ?? (mayBeRegex(tokens.at(-1)) ? take(regex) : undefined);
    if (plain !== undefined) {
      tokens.push({ text: plain, line, string: false });
      continue;
    }
    const character = text[at++] ?? "";
    if (character === "`" || (character === "}" && braces.pop() === true)) {
      takeTemplate();
      continue;
    }
    if (character === "{") braces.push(false);
    tokens.push({ text: character, line, string: false });
  }
  return tokens;
}

/** @param {Token | undefined} before */
function mayBeRegex(before) {
  if (before === undefined || before.string) return before === undefined;
  if (before.text === "" || before.text === ")" || before.text === "]" || before.text === "}") return false;
  return beforeOperand.has(before.text) || !/^[\p{ID_Start}$_#\d/]/u.test(before.text);
}
