/** Decides which assignments in a text give a variable a value that holds at every later use. */

/** Variables to which bash or a program gives other values than those assigned. */
const SPECIAL =
  /^(?:RANDOM|SRANDOM|SECONDS|LINENO|EPOCH\w*|BASH\w*|FUNCNAME|DIRSTACK|PIPESTATUS|PPID|E?UID|GROUPS|HIST\w*|OLDPWD|IFS|OPT\w*|REPLY|SHELLOPTS|_|COMP_\w*|MAPFILE|COPROC\w*|READLINE\w*|GLOBIGNORE|LC_\w*|LANG)$/;
/**
 * How often the text may set the variable: every mention counts, except `$name`, `${name}` and expansions that only
 * remove parts of it, and a one-letter flag `-n`. So loops, `read` and quoted text that could be evaluated count too.
 * Infinity: unknown.
 */
export function settingsOf(text: string, name: string): number {
  if (!/^[A-Za-z_]\w*$/.test(name) || SPECIAL.test(name)) return Number.POSITIVE_INFINITY;
  if (/\bIFS\b/.test(text.replace(READ_WITH_IFS, "read "))) return Number.POSITIVE_INFINITY;
  const hasArithmetic = /\(\(|\$\[|\blet\b|\b(?:declare|typeset|local)\b/.test(text);
  return [...text.matchAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, "g"))].filter(({ index }) => {
    const before = text.slice(Math.max(0, index - 2), index);
    const after = text.slice(index + name.length, index + name.length + 2);
    if (before === "${") return !/^(?:[}%#/^,]|:[-+?]|[-+?])/.test(after);
    if (before === " -" && name.length === 1 && !hasArithmetic) return !/^[\s;]/.test(after);
    return !before.endsWith("$");
  }).length;
}

/** `IFS=… read`: the assignment applies to this command only. */
const READ_WITH_IFS = /\bIFS=(?:'[^']*'|\$'[^']*'|[^\s'"$]*)\s+read\b/g;

/** Whether the text sets the variable exactly once. */
export function isSetOnce(text: string, name: string): boolean {
  return settingsOf(text, name) === 1;
}

/** Names of variables that mean nothing to any program. */
const FREE_NAMES = new Set(
  `FILE FILES DIR DIRS SRC DEST ROOT BASE NAME PATTERN LINE COUNT TOTAL RESULT OUTPUT OUT START END SUM BRANCH COMMIT HASH VERSION
   F D N I X`.split(/\s+/),
);

/** Whether setting the variable affects only the text itself. */
export function isHarmlessName(name: string): boolean {
  return FREE_NAMES.has(name) || (/^[a-z_][a-z0-9_]*$/.test(name) && !/_proxy$/.test(name));
}

/** Variables that change how programs print, not what they do. */
export function isHarmlessVariable(name: string): boolean {
  return /^(?:LANG|LC_[A-Z]+|TZ|TERM|NO_COLOR|CI|DEBUG|NODE_ENV|RUST_BACKTRACE|GOOS|GOARCH)$/.test(name);
}
