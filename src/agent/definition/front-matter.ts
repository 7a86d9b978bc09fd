/**
 * A Markdown file that starts with settings: `---`, YAML, `---`, text. Only YAML: other languages after `---` are never
 * run.
 */
import { Fault } from "../../abi/errors.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

/** `file` is the name used in messages: `SKILL.md`. The body is trimmed. */
export function parseFrontMatter(file: string, text: string): { fields: YamlFields; body: string } {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---")
    throw new Fault({ code: "INVALID", message: `${file} must start with ---` });
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  if (end === -1) throw new Fault({ code: "INVALID", message: `${file} missing closing ---` });
  const fields = parseYaml(file, lines.slice(1, end).join("\n"), 2);
  return {
    fields,
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}
