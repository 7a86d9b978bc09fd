/**
 * Fills in the text of a skill: arguments and the outputs of its commands, in one pass. What is filled in is never read
 * again, so no value can become a placeholder or a command. Pure.
 */
import { INLINE_COMMAND, type SkillText } from "../../abi/skill.ts";

export interface Filling {
  readonly args: string;
  readonly argumentNames: readonly string[];
  readonly dir: string;
  readonly session: string;
}

/** `$ARGUMENTS`, `$1` … `$9`, `$name`, `${CRUX_SKILL_DIR}`, `${CRUX_SESSION_ID}`. */
const PLACEHOLDER = String.raw`\$(?:\{([A-Z_]+)\}|(ARGUMENTS)\b|([1-9])(?!\d)|([A-Za-z_][A-Za-z0-9_]*))`;

/** The commands in the text as they are run, in order: values are variables of the shell, never a part of its text. */
export function commandsIn({ body }: Pick<SkillText, "body">, filling: Filling): readonly string[] {
  return [...body.matchAll(INLINE_COMMAND)].map(([, command = ""]) => shellText(command, filling));
}

/** `outputs`: of the commands, in order; a command without one stays as it is written. */
export function filledIn(body: string, filling: Filling, outputs: readonly (string | undefined)[]): string {
  const values = valuesOf(filling);
  let hasPlace = false;
  let next = 0;
  const pattern = new RegExp(`${INLINE_COMMAND.source}|${PLACEHOLDER}`, "g");
  const text = body.replace(pattern, (written: string, command: string | undefined, ...rest: unknown[]) => {
    if (command !== undefined) {
      const output = outputs[next++];
      if (output === undefined) return written;
      hasPlace ||= uses(command, values);
      return output;
    }
    const name = (rest as (string | undefined)[]).slice(0, 4).find((part) => part !== undefined) ?? "";
    const value = values.get(name);
    if (value === undefined) return written;
    if (!SURROUNDINGS.has(name)) hasPlace = true;
    return value;
  });
  return hasPlace || filling.args === "" ? text : `${text}\n\nARGUMENTS: ${filling.args}`;
}

const SKILL_DIR = "CRUX_SKILL_DIR";
const SESSION_ID = "CRUX_SESSION_ID";
/** They do not count as a place for the arguments. */
const SURROUNDINGS: ReadonlySet<string> = new Set([SKILL_DIR, SESSION_ID]);

function valuesOf({ args, argumentNames, dir, session }: Filling): ReadonlyMap<string, string> {
  const words = splitWords(args);
  return new Map([
    ["ARGUMENTS", args],
    ...Array.from({ length: 9 }, (_, i) => [String(i + 1), words[i] ?? ""] as const),
    ...argumentNames.map((name, i) => [name, words[i] ?? ""] as const),
    [SKILL_DIR, dir],
    [SESSION_ID, session],
  ]);
}

function uses(command: string, values: ReadonlyMap<string, string>): boolean {
  return [...command.matchAll(new RegExp(PLACEHOLDER, "g"))].some((match) => {
    const name = match.slice(1, 5).find((part) => part !== undefined) ?? "";
    return values.has(name) && !SURROUNDINGS.has(name);
  });
}

/** Words as the shell would split them; quotes keep blanks in a word. */
function splitWords(args: string): readonly string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
}

/** The command with its values assigned before it, and each placeholder as a quoted variable wherever it stands. */
function shellText(command: string, filling: Filling): string {
  const values = valuesOf(filling);
  const place = new RegExp(PLACEHOLDER, "y");
  const used = new Map<string, string>();
  let quote = "";
  let text = "";
  for (let at = 0; at < command.length; ) {
    const char = command[at] ?? "";
    place.lastIndex = at;
    const match = place.exec(command);
    const name = match?.slice(1, 5).find((part) => part !== undefined);
    const value = name === undefined ? undefined : values.get(name);
    if (match !== null && name !== undefined && value !== undefined) {
      used.set(`skill_${name}`, value);
      text += quoted(`skill_${name}`, quote);
      at += match[0].length;
      continue;
    }
    if (char === "\\" && quote !== "'") {
      text += command.slice(at, at + 2);
      at += 2;
      continue;
    }
    if ((char === "'" || char === '"') && (quote === "" || quote === char)) quote = quote === "" ? char : "";
    text += char;
    at++;
  }
  const assigned = [...used].map(([name, value]) => `${name}=${singleQuoted(value)}`);
  return assigned.length === 0 ? text : `${assigned.join("; ")}; ${text}`;
}

function quoted(name: string, quote: string): string {
  if (quote === '"') return `\${${name}}`;
  return quote === "'" ? `'"\${${name}}"'` : `"\${${name}}"`;
}

function singleQuoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
