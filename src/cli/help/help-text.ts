/** The help of a command, and of Crux itself, generated from the rows. */
import { GLOBAL_OPTIONS } from "./flags.ts";
import type { CommandRow, OptionRow, UsageRow } from "./row.ts";
import { GROUPS } from "./rows.ts";

/** The most columns of the head before a meaning; a longer head has a line of its own. */
const MAX_HEAD = 42;
/** The fewest columns for a meaning beside its head; with less room it stands below. */
const MIN_MEANING = 24;

/** Help is never wider than this, however wide the terminal is. */
const MAX_COLUMNS = 118;
/** Narrower text would have one word per line. */
const MIN_COLUMNS = 24;
/** Handwritten lines are broken where the next word would have passed this column. */
const FULL_LINE = 110;

export function helpText(row: CommandRow, columns: number): string {
  const parts = row.name === "" ? rootParts(row, columns) : commandParts(row, columns);
  return parts.filter((part) => part !== "").join("\n\n");
}

function commandParts(row: CommandRow, columns: number): readonly string[] {
  return [
    flowed(row.summary, columns),
    `Usage:\n${usageLines(row.usage, columns)}`,
    verbLines(row, columns),
    optionLines(row.options ?? [], columns),
    flowed(row.about ?? "", columns),
    globalPart(columns),
    examplesPart(row),
    flowed(row.after ?? "", columns),
  ];
}

function rootParts(row: CommandRow, columns: number): readonly string[] {
  return [
    flowed(row.summary, columns),
    `Usage:\n${usageLines(row.usage, columns)}`,
    overview(columns),
    `Flags of a run:\n${optionLines(row.options ?? [], columns)}`,
    globalPart(columns),
    examplesPart(row),
    flowed(row.after ?? "", columns),
  ];
}

/** Each command once, by group. */
function overview(columns: number): string {
  const shown = GROUPS.map(({ title, rows }) => ({ title, rows: rows.filter((row) => row.hidden !== true) }));
  const width = widest(shown.flatMap(({ rows }) => rows.map(({ head }) => head)));
  return shown
    .map(({ title, rows }) => {
      const lines = rows.map(({ head, brief }) => withMeaning(`  ${head}`, brief, width + 4, columns));
      return `${title}:\n${lines.join("\n")}`;
    })
    .join("\n");
}

function usageLines(usage: readonly UsageRow[], columns: number): string {
  const forms = usage.map((each): readonly [string, string] =>
    typeof each === "string" ? [`crux ${each}`.trimEnd(), ""] : [`crux ${each[0]}`.trimEnd(), each[1]],
  );
  const width = widest(forms.filter(([, meaning]) => meaning !== "").map(([form]) => form));
  return forms
    .map(([form, meaning]) =>
      meaning === "" ? wholeForm(form, columns) : withMeaning(`  ${form}`, meaning, width + 4, columns),
    )
    .join("\n");
}

function verbLines({ verbs = [] }: CommandRow, columns: number): string {
  const width = widest(verbs.map(({ head }) => head));
  return verbs
    .flatMap(({ head, meaning, options = [] }) => [
      withMeaning(`  ${head}`, meaning, width + 4, columns),
      ...(options.length === 0 ? [] : [optionLines(options, columns, "  ")]),
    ])
    .join("\n");
}

function optionLines(options: readonly OptionRow[], columns: number, indent = ""): string {
  const heads = options.map(optionHead);
  const width = widest(heads);
  return options
    .map(({ meaning }, at) =>
      withMeaning(`${indent}  ${heads[at]}`, meaning, indent.length + width + 4, columns),
    )
    .join("\n");
}

function optionHead({ flag, short, value }: OptionRow): string {
  return `${short === undefined ? "   " : `-${short},`} --${flag}${value === undefined ? "" : ` ${value}`}`;
}

function globalPart(columns: number): string {
  return `${flowed("Flags of every command, before or after it:", columns)}\n${optionLines(GLOBAL_OPTIONS, columns)}`;
}

function examplesPart({ examples = [] }: CommandRow): string {
  return examples.length === 0 ? "" : `Examples:\n${examples.map((line) => `  ${line}`).join("\n")}`;
}

function wholeForm(form: string, columns: number): string {
  return `  ${wrapped(form, 6, columns).join("\n      ")}`;
}

/** On a narrow terminal the meaning stands below its head, indented a little more. */
function withMeaning(head: string, meaning: string, wanted: number, columns: number): string {
  const below = head.search(/\S/) + 4;
  const column = columns - wanted < MIN_MEANING ? below : wanted;
  const [first = "", ...more] = wrapped(meaning, column, columns);
  const indent = " ".repeat(column);
  const heads = wrapped(head.trimStart(), below, columns).join(`\n${" ".repeat(below)}`);
  const start = " ".repeat(head.search(/\S/)) + heads;
  const lead = head.length > column - 2 ? `${start}\n${indent}` : start.padEnd(column);
  return [lead + first, ...more.map((line) => indent + line)].join("\n");
}

function widest(heads: readonly string[]): number {
  return Math.min(MAX_HEAD, Math.max(0, ...heads.map(({ length }) => length)));
}

/** The text in lines that fit after `indent` columns, broken at blanks. */
function wrapped(text: string, indent: number, columns: number): string[] {
  const room = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && indent + longer.length > room) {
      lines.push(line.trimEnd());
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/**
 * Reflows handwritten lines for any width: a line broken only because it was full joins the next, every other break
 * stays.
 */
function flowed(text: string, columns: number): string {
  if (columns >= MAX_COLUMNS) return text;
  const paragraphs: string[] = [];
  let last = "";
  for (const line of text.split("\n")) {
    const isFull = last !== "" && line !== "" && last.length + 1 + line.search(/ |$/) > FULL_LINE;
    if (isFull) paragraphs.push(`${paragraphs.pop()} ${line}`);
    else paragraphs.push(line);
    last = line;
  }
  return paragraphs.flatMap((paragraph) => wrapped(paragraph, 0, columns)).join("\n");
}
