/** What is made from the table, by name. The build puts it into a file of its own, which only these commands load. */
import { type Proposals, proposalsFor as proposals } from "./completion.ts";
import { helpText } from "./help-text.ts";
import { manPage as page } from "./man-page.ts";
import { findRow } from "./rows.ts";

/** undefined: no such command. The empty name is Crux itself. */
export function findHelp(name: string): string | undefined {
  const row = findRow(name);
  return row === undefined ? undefined : helpText(row);
}

/** `words`: those behind `crux`; the last is being typed. */
export function proposalsFor(words: readonly string[]): Proposals {
  return proposals(words);
}

/** crux(1), in roff. */
export function manPage(version: string): string {
  return page(version);
}
