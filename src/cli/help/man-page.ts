/** The manual page, crux(1), in the man macros of roff. */
import { GLOBAL_OPTIONS } from "./flags.ts";
import { ROOT } from "./root.ts";
import type { CommandRow, OptionRow, UsageRow } from "./row.ts";
import { GROUPS } from "./rows.ts";

export function manPage(version: string): string {
  const lines = [
    `.TH CRUX 1 "" "crux ${escaped(version)}" "Crux"`,
    ".SH NAME",
    "crux \\- an operating system for AI agents",
    ".SH SYNOPSIS",
    ...usage(ROOT.usage),
    ".SH FLAGS OF A RUN",
    ...options(ROOT.options ?? []),
    ".SH FLAGS OF EVERY COMMAND",
    ...options(GLOBAL_OPTIONS),
    ...GROUPS.flatMap(({ title, rows }) => [
      `.SH ${title.toUpperCase()}`,
      ...rows.filter(({ hidden }) => hidden !== true).flatMap(command),
    ]),
    ".SH EXAMPLES",
    ...literal((ROOT.examples ?? []).join("\n")),
    ".SH NOTES",
    ...prose(ROOT.after ?? ""),
  ];
  const needed = lines.filter(
    (line, at) => line !== ".PP" || !/^\.(?:TP|SS|SH|PP)\b/.test(lines[at + 1] ?? ".SH"),
  );
  return `${needed.join("\n")}\n`;
}

function command(row: CommandRow): readonly string[] {
  const { summary, verbs = [], about = "", examples = [], after = "" } = row;
  return [
    `.SS ${escaped(row.head)}`,
    ...prose(`${summary}.`),
    ".PP",
    ...usage(row.usage),
    ...verbs.flatMap(({ head, meaning, options: own = [] }) => [
      ".TP",
      `.B ${escaped(head)}`,
      ...prose(meaning),
      ...(own.length === 0 ? [] : [".RS", ...options(own), ".RE"]),
    ]),
    ...options(row.options ?? []),
    ...(about === "" ? [] : [".PP", ...prose(about)]),
    ...(examples.length === 0 ? [] : [".PP", ...literal(examples.join("\n"))]),
    ...(after === "" ? [] : [".PP", ...prose(after)]),
  ];
}

function usage(rows: readonly UsageRow[]): readonly string[] {
  return rows.flatMap((row) => {
    const [form, meaning] = typeof row === "string" ? [row, ""] : row;
    return [".TP", `.B ${escaped(`crux ${form}`.trimEnd())}`, ...prose(meaning)];
  });
}

function options(rows: readonly OptionRow[]): readonly string[] {
  return rows.flatMap(({ flag, short, value, meaning }) => {
    const spelling = `${short === undefined ? "" : `-${short}, `}--${flag}${value === undefined ? "" : ` ${value}`}`;
    return [".TP", `.B ${escaped(spelling)}`, ...prose(meaning)];
  });
}

/** An indented line keeps its layout. */
function prose(text: string): readonly string[] {
  if (text === "") return [];
  return text.split("\n").flatMap((line) => {
    if (line === "") return [".PP"];
    return line.startsWith(" ") ? literal(line) : [escaped(line)];
  });
}

function literal(text: string): readonly string[] {
  return [".nf", ...text.split("\n").map(escaped), ".fi"];
}

/** A line of roff that prints exactly its text. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
