/** Builtins that evaluate their operands: a subscript in one may run a command. */
import { posix } from "node:path";
import { EVALUATES_OPERANDS } from "./tables.ts";
import { staticWord, type Word } from "./word.ts";

const TESTS = new Set(["test", "["]);
/**
 * Test operators that take a name, including a subscript. `test` does not evaluate what it compares as numbers, but it
 * is treated like `[[`.
 */
const NAMED = /^-[vR]$/;
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/;
const NAME = /^[A-Za-z_]\w*$/;
const INTEGER = /^[-+]?\d+$/;

/** Why no allow rule covers the command; null: bash evaluates nothing here. */
export function evaluatedOperands(argv: readonly Word[]): string | null {
  const name = posix.basename(argv[0]?.text ?? "");
  const args = argv.slice(1);
  if (name === "printf") return args.some(isVariableFlag) ? "printf -v" : null;
  if (name === "set") return args.every(isHarmlessSet) ? null : "set changes what the shell does next";
  if (!EVALUATES_OPERANDS.has(name)) return null;
  if (TESTS.has(name)) return evaluatedTest(name, args);
  if (name === "[[" || args.every(({ text }) => text !== null && (NAME.test(text) || INTEGER.test(text))))
    return null;
  if (name === "read" && isPlainRead(args)) return null;
  return `${name} evaluates its operands`;
}

function isVariableFlag({ text, prefix }: Word, at: number): boolean {
  return text === null ? at === 0 && !/^[^-]/.test(prefix) : at === 0 && text.startsWith("-v");
}

function isHarmlessSet({ text }: Word): boolean {
  return text !== null && /^[-+][eufCm]*o?$|^(?:pipefail|errexit|nounset|noglob)$|^--$/.test(text);
}

/** Whether `read` has only harmless flags and plain names, as in `read -r line`. */
function isPlainRead(args: readonly Word[]): boolean {
  return readNames([staticWord("read"), ...args]).every((name) => NAME.test(name));
}

/** The variables that `read` sets; an entry that is not a name means that they are unknown. */
export function readNames(argv: readonly Word[]): readonly string[] {
  const args = argv.slice(1);
  const at = args.findIndex(({ text }, i) => !isReadFlag(text) && args[i - 1]?.text !== "-d");
  if (at < 0) return ["REPLY"];
  return args.slice(at).map(({ text }) => text ?? "");
}

function isReadFlag(text: string | null): boolean {
  return text !== null && /^-[rs]*d?$/.test(text);
}

/** An unknown operator may be `-v`; where an operator takes names or numbers, its operands must be plain. */
function evaluatedTest(name: string, given: readonly Word[]): string | null {
  const args = name === "[" ? given.slice(0, -1) : given;
  const why = `${name} evaluates its operands`;
  if (args.some(({ text, isMany }) => text === null && isMany)) return why;
  const isHeld = (at: number) =>
    isOperator(args[at - 1]?.text) || (isOperator(args[at + 1]?.text) && at + 2 < args.length);
  if (args.length > 1 && args.some(({ text }, at) => text === null && !isHeld(at))) return why;
  const isNamed = args.some(({ text }) => text !== null && NAMED.test(text));
  if (!isNamed && !args.some(({ text }) => text !== null && NUMERIC.test(text))) return null;
  const isKnown = ({ text }: Word) =>
    text === null ? !isNamed : NAME.test(text) || INTEGER.test(text) || isOperator(text);
  return args.every(isKnown) ? null : why;
}

function isOperator(text: string | null | undefined): boolean {
  return text != null && /^(?:-[a-zA-Z]{1,2}|[!=<>]=?|==|[()!])$/.test(text);
}
