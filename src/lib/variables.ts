/** Replaces `$VAR`, `${VAR}` and `${VAR:-default}` in a text as the shell does, and `$$` by `$`. */

interface Expanded {
  readonly text: string;
  /** Names with neither a value nor a default; they are replaced by "". */
  readonly missing: readonly string[];
}

const VARIABLE = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\})/g;

export function expandVariables(text: string, env: Readonly<Record<string, string>>): Expanded {
  const missing: string[] = [];
  const expanded = text.replace(VARIABLE, (whole, bare?: string, braced?: string, fallback?: string) => {
    if (whole === "$$") return "$";
    const name = bare ?? braced ?? "";
    const value = Object.hasOwn(env, name) ? (env[name] ?? "") : "";
    // as in the shell, `:-` treats an empty value as unset
    if (value !== "") return value;
    if (fallback !== undefined) return fallback;
    if (!Object.hasOwn(env, name)) missing.push(name);
    return "";
  });
  return { text: expanded, missing };
}
