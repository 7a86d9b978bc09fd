/** Screens are compared as whole lines; what differs from run to run is masked on both sides. */

/** Numbers of any width: pids, tokens, sizes, times with their units. */
export function masked(text: string): string {
  return text.replace(/\d+(?:\.\d+)?(?:µs|ms|s|B)?/g, "#").replace(/# +(?=→|← | {4}|$)/gm, "# ");
}

/** Numbers of a table: right-aligned, so each keeps the columns it takes with the blanks before it. */
export function maskedTable(text: string): string {
  return text.replace(/ *\d+(?:\.\d+)?/g, (found) => "#".repeat(found.length));
}
