/** Variables in a compose file: `${NAME}`, `${NAME:-default}`, and `$$` for a `$`. Any other `$` stays as it is. */

import { Fault } from "../errors.ts";
import { pathOf } from "./issue.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Path = readonly (string | number)[];

const MARK = /\$\$|\$\{([^{}]*)\}|\$\{/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** A copy with the variables in every text filled in; keys are not changed. INVALID with the path of the text. */
export function interpolate(value: unknown, env: Environment, path: Path = []): unknown {
  if (typeof value === "string") return fill(value, env, path);
  if (Array.isArray(value)) return value.map((item, at) => interpolate(item, env, [...path, at]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, interpolate(item, env, [...path, key])]),
  );
}

/** Escapes a text so that interpolate() returns it unchanged. */
export function escapeVariables(text: string): string {
  return text.replaceAll("$", "$$$$");
}

function fill(text: string, env: Environment, path: Path): string {
  return text.replace(MARK, (mark: string, inner: string | undefined) => {
    if (mark === "$$") return "$";
    const [, name, fallback] = VARIABLE.exec(inner ?? "") ?? [];
    if (name === undefined)
      throw invalid(
        `${pathOf(path)}: not a variable: ${mark}`,
        "write ${NAME}, ${NAME:-default}, or $${ for a plain ${",
      );
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // an empty variable counts as set, except if a default is given
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw invalid(`${pathOf(path)}: variable ${name} is not set`, `set it, or write \${${name}:-default}`);
  });
}

function invalid(message: string, hint: string): Fault {
  return new Fault({ code: "INVALID", message, hint });
}
