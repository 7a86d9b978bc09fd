/**
 * The YAML of compose files. Anchors, aliases and `<<` count; a tag that YAML does not know is an error. Nothing in it
 * runs.
 */
import { Document, parseDocument, visit } from "yaml";
import { Fault, messageOf } from "../errors.ts";
import { escapeVariables } from "./variables.ts";

const MAX_ALIASES = 100;
/** White space and control characters that a parser might take for a line end, or drop. */
const UNUSUAL = /(?![ \n])[\s\p{C}]|\s$/u;

/** `name` is the file's, for errors: INVALID with line and column. */
export function parseComposeYaml(name: string, text: string): unknown {
  try {
    const document = parseDocument(text, { merge: true });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem === undefined) return document.toJS({ maxAliasCount: MAX_ALIASES });
    const { line = 1, col = 1 } = problem.linePos?.[0] ?? {};
    throw invalid(`${name}: line ${line}, column ${col}: ${firstLine(problem.message)}`, hintAt(text, line));
  } catch (error) {
    // nesting too deep for the parser, or too many aliases
    if (error instanceof RangeError) throw invalid(`${name}: nested too deep`);
    if (error instanceof ReferenceError) throw invalid(`${name}: ${messageOf(error)}`);
    throw error;
  }
}

/** A compose file that says the same as `file`, all variables filled in; no final newline. */
export function printComposeYaml(file: unknown): string {
  const document = new Document(file, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (key, node) => {
      if (key === "key" || typeof node.value !== "string") return;
      const value = escapeVariables(node.value);
      node.value = value;
      if (UNUSUAL.test(value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd();
}

/** Inside brackets, YAML would parse the brace of an unquoted variable as its own syntax. */
function hintAt(text: string, line: number): string | undefined {
  const hasVariable = text.split("\n", line).at(-1)?.includes("${") === true;
  return hasVariable ? 'between brackets a variable stands in quotes: ["${NAME}"]' : undefined;
}

function firstLine(message: string): string {
  return (message.split("\n", 1)[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
}

function invalid(message: string, hint?: string): Fault {
  return new Fault({ code: "INVALID", message, hint });
}
