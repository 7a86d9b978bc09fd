/** How many of the lines, from the first on, fit into so many characters, with a line break after each. */
export function fittingLines(lines: readonly string[], chars: number): number {
  let count = 0;
  let used = 0;
  for (const line of lines) {
    used += line.length + 1;
    if (used > chars) break;
    count++;
  }
  return count;
}
