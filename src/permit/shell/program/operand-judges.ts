/** Finds operands that do more than name what a program works on. */

import { isReadingJq, isReadingSed } from "../read/script.ts";
import type { OperandJudge, UsedOption } from "./option-table.ts";

type Test = (text: string | null) => boolean;

const where = (operands: readonly (string | null)[], test: Test): readonly number[] =>
  operands.flatMap((text, i) => (test(text) ? [i] : []));

/** Whether the remote starts a program, like `ext::sh -c x`. */
const isHelper: Test = (text) => text?.includes("::") === true;
const isPath: Test = (text) =>
  text === null || /^(?:\.{0,2}\/|\.{1,2}$|~|file:)/i.test(text) || /^[^:]*\//.test(text);
/** Whether the remote is a URL: `https://h/a`, `h:a`, `user@h:a`. */
const isUrl: Test = (text) =>
  text !== null && (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || /^[^/]+:/.test(text));

/**
 * A push may go only to a remote that the repository's configuration names: a path would run the hooks there, a URL may
 * be anyone's.
 */
export const pushes: OperandJudge = ([to, ...refs]) => {
  const odd = to !== undefined && (isPath(to) || isUrl(to) || isHelper(to)) ? [0] : [];
  return [...odd, ...where(refs, isHelper).map((i) => i + 1)];
};

/** A fetch may come from a URL or a named remote; not from a path, whose repository may be anyone's. */
export const fetches: OperandJudge = ([from, ...others]) => [
  ...(from !== undefined && (isPath(from) || isHelper(from)) ? [0] : []),
  ...where(others, isHelper).map((i) => i + 1),
];

export const helpers: OperandJudge = (operands) => where(operands, isHelper);

/** The last of several operands, which the program writes: `uniq in out`. */
export const second: OperandJudge = (operands) => (operands.length > 1 ? [operands.length - 1] : []);

const isNamed = (used: readonly UsedOption[], names: readonly string[]) =>
  used.filter(({ option }) => names.some((name) => option.names.includes(name)));

/** Judges scripts: the values of `flags`, or else the first operand. */
const scripts =
  (flags: readonly string[], isHarmless: (script: string) => boolean): OperandJudge =>
  (operands, used) => {
    const given = isNamed(used, flags);
    const odd = given.filter(({ value }) => value == null || !isHarmless(value));
    if (odd.length > 0) return odd;
    const [first] = operands;
    if (given.length > 0 || first === undefined) return [];
    return first === null || !isHarmless(first) ? [0] : [];
  };

/**
 * awk is harmless if it starts no command and uses no file but its operands. A comparison before the first `print`
 * redirects nothing.
 */
function isHarmlessAwk(program: string): boolean {
  if (/\b(?:system|getline|extension|ARGV|ARGC|ARGIND|SYMTAB|FUNCTAB)\b|@/.test(program)) return false;
  const bare = program.replaceAll("||", "");
  return !/[|&\\]/.test(bare.replaceAll("&&", "")) && !/\bprintf?\b[\s\S]*>/.test(bare);
}

export const sedScripts = scripts(["-e"], isReadingSed);
export const awkPrograms = scripts(["-e"], isHarmlessAwk);
export const jqFilters = scripts([], isReadingJq);

const PROGRAM_VARIABLE =
  /^(?:\.?SHELL(?:FLAGS)?|M(?:AKE)?FLAGS|MAKEFILES|MAKE|MAKEOVERRIDES|GNUMAKEFLAGS|PATH|[A-Z]*(?:CC|CXX|CPP|FC|LD|AR|AS|CMD|EXEC|RUN|RUNNER|COMMAND|LAUNCHER|WRAPPER|TOOL|PROG|PROGRAM|INSTALL|PYTHON|NODE|SED|AWK|PREFIX_CMD|RM|MV|CP|LN|MKDIR|LEX|YACC|STRIP|RANLIB|PKG_CONFIG|SUDO))$/i;

/** Variables of make whose values programs or recipes would run. */
export const makeVariables: OperandJudge = (operands) =>
  where(operands, (text) => {
    const [, name = "", value = ""] = /^([^=]*?)\s*[:?+!]*=(.*)$/s.exec(text ?? "") ?? [];
    return name !== "" && (PROGRAM_VARIABLE.test(name) || !/^[\w.:+%,][\w.:+%,-]*$|^$/.test(value));
  });

/** A word that begins with `@` reads options from a file. */
export const responseFiles: OperandJudge = (operands) =>
  where(operands, (text) => text?.startsWith("@") === true);

/** Operands that match are commands of the program rather than data. */
export const commands =
  (pattern: RegExp): OperandJudge =>
  (operands) =>
    where(operands, (text) => text === null || pattern.test(text));
