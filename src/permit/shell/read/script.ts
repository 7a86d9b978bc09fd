/** Programs whose argument is a small program: read-only if that is known to start and write nothing. */

/** Whether an awk program only reads: no command, no file but its operands, no function called by a computed name. */
export function isReadingAwk(program: string): boolean {
  if (/\b(?:system|getline|extension|ARGV|ARGC|ARGIND|SYMTAB|FUNCTAB)\b|@/.test(program)) return false;
  if (!/[|>\\]/.test(program)) return true;
  const bare = withoutLiterals(program);
  if (bare === null || /(?<!\|)\|(?!\|)|>>|\\/.test(bare)) return false;
  // after `print`, `>` names a file
  return bare.split(/[;{}]/).every((statement) => !/\bprintf?\b[\s\S]*>/.test(statement));
}

/** The program with strings, patterns and comments blanked; null: their bounds are ambiguous. */
function withoutLiterals(program: string): string | null {
  let bare = "";
  for (let rest = program; rest !== ""; ) {
    const literal = rest.startsWith('"')
      ? /^"(?:\\[^\n]|[^"\\\n])*"/.exec(rest)?.[0]
      : rest.startsWith("#")
        ? /^#[^\n]*/.exec(rest)?.[0]
        : rest.startsWith("/") && beginsPattern(bare)
          ? /^\/(?:\\[^\n]|[^/\\\n[])*\//.exec(rest)?.[0]
          : rest[0];
    if (literal === undefined || (rest.startsWith("/") && isDoubtful(bare))) return null;
    bare += literal.length === 1 ? literal : literal.startsWith("#") ? "" : " 0 ";
    rest = rest.slice(literal.length);
  }
  return bare;
}

/** Whether a slash here begins a pattern; elsewhere it divides. */
function beginsPattern(before: string): boolean {
  return /(?:^|[(,{};!~&|=<>?:\n])\s*$/.test(before);
}

/** Whether a slash here is ambiguous: after a keyword, a parenthesis or a doubled sign. */
function isDoubtful(before: string): boolean {
  return /(?:\b(?:print|printf|return|case|in|delete|exit|do|else)|[)+\-*%^])\s*$/.test(before);
}

/** Whether a jq filter only reads: no modules, which may be any file, and not the environment. */
export function isReadingJq(program: string): boolean {
  return !/\b(?:import|include|modulemeta|env)\b|\$ENV\b/.test(program);
}

const ADDRESS = /^(?:\d+(?:~\d+)?|\$|\/(?:\\[^\n]|[^/\\\n[])*\/[IM]?)/;

/**
 * Whether a sed script only reads: only the commands `p d q = l n N g G h H x y s`, no `s` with the flag `e` or `w`.
 */
export function isReadingSed(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    rest = rest.replace(/^[\s;]+/, "");
    if (rest === "") return true;
    const after = sedCommand(rest.replace(/^[\s]+/, ""));
    if (after === null || !/^\s*(?:[;\n]|$)/.test(after)) return false;
    rest = after;
  }
  return true;
}

/** The script after its first command; null: the command is not allowed. */
function sedCommand(text: string): string | null {
  let rest = text.replace(ADDRESS, "");
  if (rest !== text && rest.startsWith(",")) {
    const end = rest
      .slice(1)
      .replace(/^[+~]\d+/, "")
      .replace(ADDRESS, "");
    if (end.length === rest.length - 1) return null;
    rest = end;
  }
  rest = rest.replace(/^[ \t]*!?[ \t]*/, "");
  const plain = /^(?:[pd=nNgGhHx]|q[ \t]*\d*|l[ \t]*\d*)/.exec(rest);
  if (plain !== null) return rest.slice(plain[0].length);
  return /^[sy]/.test(rest) ? substitution(rest) : null;
}

function substitution(text: string): string | null {
  const delimiter = text.charAt(1);
  if (!/^[/|,#:@!%_+-]$/.test(delimiter)) return null;
  const body = /^(?:\\[^\n]|[^\\\n])*$/.test(text.split("\n")[0] ?? "") ? (text.split("\n")[0] ?? "") : null;
  if (body === null) return null;
  let at = 2;
  for (let part = 0; part < 2; part++) {
    for (; at < body.length && body[at] !== delimiter; at++) {
      if (body[at] === "\\") at++;
      // programs disagree on whether a bracket hides the delimiter
      else if (part === 0 && body[at] === "[" && hidesDelimiter(body.slice(at), delimiter)) return null;
    }
    if (body[at] !== delimiter) return null;
    at++;
  }
  const flags = /^[gpiIM0-9]*/.exec(body.slice(at))?.[0] ?? "";
  return text.slice(at + (text.startsWith("s") ? flags.length : 0));
}

function hidesDelimiter(text: string, delimiter: string): boolean {
  const end = text.indexOf("]", text[1] === "^" ? 3 : 2);
  return end < 0 || text.slice(0, end).includes(delimiter) || text.slice(0, end).includes("\\");
}
