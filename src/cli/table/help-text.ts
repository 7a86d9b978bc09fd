/** The help of a command, and of Crux itself, from the rows. */
import { GLOBAL_OPTIONS } from "./flags.ts";
import type { CommandRow, OptionRow, UsageRow } from "./row.ts";
import { GROUPS } from "./rows.ts";
import { wrapped } from "./wrapped.ts";

/** At most this many columns for what stands before a meaning; a longer one has a line of its own. */
const MAX_HEAD = 42;

export function helpText(row: CommandRow): string {
  const parts = row.name === "" ? rootParts(row) : commandParts(row);
  return parts.filter((part) => part !== "").join("\n\n");
}

function commandParts(row: CommandRow): readonly string[] {
  return [
    row.summary,
    `Usage:\n${usageLines(row.usage)}`,
    verbLines(row),
    optionLines(row.options ?? []),
    row.about ?? "",
    globalPart(),
    examplesPart(row),
    row.after ?? "",
  ];
}

function rootParts(row: CommandRow): readonly string[] {
  return [
    row.summary,
    `Usage:\n${usageLines(row.usage)}`,
    overview(),
    `Flags of a run:\n${optionLines(row.options ?? [])}`,
    globalPart(),
    examplesPart(row),
    row.after ?? "",
  ];
}

/** Each command once, by group. */
function overview(): string {
  const shown = GROUPS.map(({ title, rows }) => ({ title, rows: rows.filter((row) => row.hidden !== true) }));
  const width = widest(shown.flatMap(({ rows }) => rows.map(({ head }) => head)));
  return shown
    .map(({ title, rows }) => {
      const lines = rows.map(({ head, brief }) => withMeaning(`  ${head}`, brief, width + 4));
      return `${title}:\n${lines.join("\n")}`;
    })
    .join("\n");
}

function usageLines(usage: readonly UsageRow[]): string {
  const forms = usage.map((each): readonly [string, string] =>
    typeof each === "string" ? [`crux ${each}`.trimEnd(), ""] : [`crux ${each[0]}`.trimEnd(), each[1]],
  );
  const width = widest(forms.filter(([, meaning]) => meaning !== "").map(([form]) => form));
  return forms
    .map(([form, meaning]) => (meaning === "" ? `  ${form}` : withMeaning(`  ${form}`, meaning, width + 4)))
    .join("\n");
}

function verbLines({ verbs = [] }: CommandRow): string {
  const width = widest(verbs.map(({ head }) => head));
  return verbs
    .flatMap(({ head, meaning, options = [] }) => [
      withMeaning(`  ${head}`, meaning, width + 4),
      ...(options.length === 0 ? [] : [optionLines(options, "  ")]),
    ])
    .join("\n");
}

function optionLines(options: readonly OptionRow[], indent = ""): string {
  const heads = options.map(optionHead);
  const width = widest(heads);
  return options
    .map(({ meaning }, at) => withMeaning(`${indent}  ${heads[at]}`, meaning, indent.length + width + 4))
    .join("\n");
}

function optionHead({ flag, short, value }: OptionRow): string {
  return `${short === undefined ? "   " : `-${short},`} --${flag}${value === undefined ? "" : ` ${value}`}`;
}

function globalPart(): string {
  return `Flags of every command, before or after it:\n${optionLines(GLOBAL_OPTIONS)}`;
}

function examplesPart({ examples = [] }: CommandRow): string {
  return examples.length === 0 ? "" : `Examples:\n${examples.map((line) => `  ${line}`).join("\n")}`;
}

function withMeaning(head: string, meaning: string, column: number): string {
  const [first = "", ...more] = wrapped(meaning, column);
  const indent = " ".repeat(column);
  const start = head.length > column - 2 ? `${head}\n${indent}` : head.padEnd(column);
  return [start + first, ...more.map((line) => indent + line)].join("\n");
}

function widest(heads: readonly string[]): number {
  return Math.min(MAX_HEAD, Math.max(0, ...heads.map(({ length }) => length)));
}
