/** A table in Markdown. A column without any cell is left out. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = head.map((_, column) => rows.some((row) => (row[column] ?? "") !== ""));
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .filter((_, column) => kept[column])
      .map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " "))
      .join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function code(text: string): string {
  return `\`${text}\``;
}

export const MADE = "<!-- Made by `npm run docs`; change the source, not this page. -->";
