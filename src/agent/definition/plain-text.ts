/**
 * Front matter whose texts lack the quotes that YAML asks for, as people and programs write it: a description with a colon, with
 * examples over several lines, or one that begins with `@` or `[`. Quotes are put around such a text where it stands, so that
 * lines keep their numbers. What YAML can read is left alone.
 */
import { parseDocument } from "yaml";
import { keyName } from "./yaml-fields.ts";

/** Texts of one line or more. */
const TEXTS: ReadonlySet<string> = new Set(["description", "when_to_use", "argument_hint", "initial_prompt"]);
/** Lists, of which `*` is one to people. */
const LISTS: ReadonlySet<string> = new Set(["tools", "allowed_tools", "disallowed_tools"]);
/** What ends a text of several lines: its own lines may look like keys (`user: "…"`). */
const KEYS: ReadonlySet<string> = new Set([
  ...TEXTS,
  ...LISTS,
  ..."name model models color effort permission_mode max_turns max_steps background isolation memory mcp mcp_servers".split(
    " ",
  ),
  ..."required_mcp_servers hooks skills preload delegate budget context_budget pins version outward".split(
    " ",
  ),
  ..."arguments user_invocable disable_model_invocation paths context agent shell license compatibility".split(
    " ",
  ),
  "metadata",
]);

/** `mended`: the numbers of the lines, from 0, with texts that got quotes; none: there is nothing to mend. */
export function withQuotes(lines: readonly string[]): {
  readonly lines: readonly string[];
  readonly mended: ReadonlyMap<number, string>;
} {
  const out = [...lines];
  const mended = new Map<number, string>();
  for (let at = 0, end = 1; at < lines.length; at = end) {
    end = at + 1;
    const [key, written] = keyIn(lines[at]);
    const isText = TEXTS.has(key);
    if (!isText && !(LISTS.has(key) && written === "*")) continue;
    // a line that looks like a key and follows at once is one
    if (isText && keyIn(lines[end])[0] === "")
      while (end < lines.length && !KEYS.has(keyIn(lines[end])[0])) end++;
    const entry = lines.slice(at, end);
    if (written === "" || parseDocument(entry.join("\n")).errors.length === 0) continue;
    const [first = ""] = entry;
    const text = [first.slice(first.indexOf(":") + 1), ...entry.slice(1)].join("\n").trim();
    out.fill("", at, end);
    out[at] = `${first.slice(0, first.indexOf(":"))}: ${JSON.stringify(text)}`;
    mended.set(at, key);
  }
  return { lines: out, mended };
}

/** The key that begins a line, normalized, and its value; "": none. `Context: …` is a line of an example. */
function keyIn(line = ""): readonly [key: string, value: string] {
  const [, key = "", value = ""] = /^([a-z][\w-]*):(?:[ \t]+(.*))?$/.exec(line) ?? [];
  return [keyName(key), value.trim()];
}
