/** Help is never wider than this, however wide the terminal is. */
const MAX_COLUMNS = 118;
/** Less would be one word a line. */
const MIN_COLUMNS = 24;
/** What is written by hand is broken where the next word would have passed this. */
const FULL_LINE = 110;

/** A text in lines that fit behind `indent` columns, broken at blanks. */
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

/** Lines written by hand, for a terminal of any width: those that were only full flow on, any other end stays one. */
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
