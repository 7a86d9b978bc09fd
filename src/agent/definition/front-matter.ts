/**
 * A Markdown file that starts with settings: `---`, YAML, `---`, text. Only YAML: other languages after `---` are never
 * run.
 */
import { Fault } from "../../abi/errors.ts";
import { withQuotes } from "./plain-text.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

/** `file` is the name used in messages: `SKILL.md`. The body is trimmed. `notes`: what was read although it is not YAML. */
export function parseFrontMatter(
  file: string,
  text: string,
): { fields: YamlFields; body: string; notes: readonly string[] } {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---")
    throw new Fault({ code: "INVALID", message: `${file} must start with ---` });
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  if (end === -1) throw new Fault({ code: "INVALID", message: `${file} missing closing ---` });
  const { fields, notes } = settingsIn(file, lines.slice(1, end));
  return {
    fields,
    notes,
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

/** The line of the file where its settings begin. */
const FIRST = 2;

function settingsIn(file: string, lines: readonly string[]) {
  try {
    return { fields: parseYaml(file, lines.join("\n"), FIRST), notes: [] };
  } catch (error) {
    const quoted = withQuotes(lines);
    if (quoted.mended.size === 0) throw error;
    const notes = [...quoted.mended].map(
      ([n, key]) => `${file}:${FIRST + n}: ${key} is not valid YAML without quotes; it is read as plain text`,
    );
    return { fields: parseYaml(file, quoted.lines.join("\n"), FIRST), notes };
  }
}
