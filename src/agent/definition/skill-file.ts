/** A skill file with all its settings: those that matter where it is listed, called and run. */

import { Fault } from "../../abi/errors.ts";
import type { SkillFork } from "../../abi/skill.ts";
import { checkName } from "./files.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { firstParagraph, ruleWords } from "./skill.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

/** Settings that have no effect beyond what the model reads; every other one makes the user be asked. */
const SAFE_KEYS: ReadonlySet<string> = new Set(
  `name display_name description when_to_use argument_hint arguments version license compatibility metadata
  user_invocable disable_model_invocation paths context agent model effort aliases enabled allowed_tools`.split(
    /\s+/,
  ),
);

export interface SkillFile {
  readonly description: string;
  /** Of the command line that the user types: `[issue]`. */
  readonly argumentHint: string;
  readonly argumentNames: readonly string[];
  readonly rules: readonly string[];
  readonly paths: readonly string[];
  readonly forModel: boolean;
  readonly forUser: boolean;
  /** null: it is followed by the process that loads it. */
  readonly fork: SkillFork | null;
  /** None of its settings can have an effect of its own; commands in its text are not looked at here. */
  readonly isSafe: boolean;
  readonly body: string;
}

/** `entry`: the name by which it is found. A command file may lack settings. Throws INVALID. */
export function parseSkillFile(
  text: string,
  { path, entry, isCommand }: { readonly path: string; readonly entry: string; readonly isCommand: boolean },
): SkillFile {
  const { fields, body } =
    isCommand && !hasSettings(text)
      ? { fields: parseYaml(path, ""), body: text.replace(/^\uFEFF/, "").trim() }
      : parseFrontMatter(path, text);
  const isSafe = fields.unread().every((key) => SAFE_KEYS.has(key) || !fields.has(key));
  if (!isCommand && fields.text("name") === "") throw fields.wrong("name", "is required");
  if (!isCommand) checkName("skill", entry);
  const rules = ruleWords(fields.words("allowed_tools"));
  const described = [fields.text("description") || firstParagraph(body), fields.text("when_to_use")];
  return {
    description: described
      .filter((part) => part !== "")
      .join(" ")
      .replace(/\s+/g, " ")
      .slice(0, 1024)
      .toWellFormed(),
    argumentHint: fields.text("argument_hint"),
    argumentNames: argumentNames(fields),
    rules,
    paths: fields.list("paths") ?? [],
    forModel: fields.text("disable_model_invocation") !== "true",
    forUser: fields.text("user_invocable") !== "false",
    fork: context(fields) === "fork" ? { agent: fields.text("agent"), model: fields.text("model") } : null,
    isSafe: isSafe && rules.length === 0,
    body,
  };
}

export function hasSettings(text: string): boolean {
  return /^\uFEFF?---\s*(?:\r?\n|$)/.test(text);
}

function argumentNames(fields: YamlFields): readonly string[] {
  const names = (fields.list("arguments") ?? []).flatMap((name) => name.split(/\s+/));
  const wrong = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name));
  if (wrong !== undefined) throw fields.wrong("arguments", `has a name with other characters: ${wrong}`);
  return names;
}

function context(fields: YamlFields): string {
  const context = fields.text("context");
  if (!["", "inline", "fork"].includes(context)) throw fields.wrong("context", "takes inline or fork");
  return context;
}

/** The name of a command file below its folder: `a/b.md` is `a:b`. */
export function commandName(path: string): string {
  const name = path.replace(/\.md$/i, "").replaceAll("/", ":");
  if (/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/.test(name)) return name;
  throw new Fault({
    code: "INVALID",
    message: `not a name for a command: ${JSON.stringify(name.slice(0, 80))}`,
  });
}
