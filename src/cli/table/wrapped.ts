/** Help fits a terminal of 120 columns. */
const COLUMNS = 118;

/** A text in lines that fit behind `indent` columns, broken at blanks. */
export function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && indent + longer.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
