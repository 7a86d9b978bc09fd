/** Help is never wider than this, however wide the terminal is. */
const MAX_COLUMNS = 118;
/** Narrower text would have one word per line. */
const MIN_COLUMNS = 24;
/** Handwritten lines are broken where the next word would have passed this column. */
const FULL_LINE = 110;

/** The text in lines that fit after `indent` columns, broken at blanks. */
export function wrapped(text: string, indent: number, columns: number): string[] {
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
export function flowed(text: string, columns: number): string {
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
