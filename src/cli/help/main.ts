/**
 * Lookups by name in what is generated from the table. The build puts it into a file of its own, which only these
 * commands load.
 */
import { type Proposals, proposalsFor as proposals } from "./completion.ts";
import { RUN_OPTIONS } from "./flags.ts";
import { helpText } from "./help-text.ts";
import { manPage as page } from "./man-page.ts";
import { findRow } from "./rows.ts";

/** undefined: no such command. The empty name stands for Crux itself. */
export function findHelp(name: string, columns = 80): string | undefined {
  const row = findRow(name);
  return row === undefined ? undefined : helpText(row, columns);
}

/** How to give a flag its value: `-m <name>`, and an example line that uses it. "": no such flag. */
export function findFlagUse(name: string, flag: string): string {
  const row = findRow(name);
  if (row === undefined) return "";
  const verbs = (row.verbs ?? []).flatMap(({ options = [] }) => options);
  const own = [...(row.options ?? []), ...verbs, ...(row.hasRunFlags === true ? RUN_OPTIONS : [])];
  const found = own.find(({ flag: long, short }) => flag === `--${long}` || flag === `-${short}`);
  if (found?.value === undefined) return "";
  const spellings = [`--${found.flag} `, ...(found.short === undefined ? [] : [`-${found.short} `])];
  const example = row.examples?.find((line) => spellings.some((each) => ` ${line}`.includes(` ${each}`)));
  return `${flag} ${found.value}${example === undefined ? "" : `, as in: ${example}`}`;
}

/** `words`: those after `crux`; the last is being typed. */
export function proposalsFor(words: readonly string[]): Proposals {
  return proposals(words);
}

/** crux(1), in roff. */
export function manPage(version: string): string {
  return page(version);
}
