/**
 * Proposes completions for the end of a command line, from the rows. Pure: it only names what has to be looked up.
 * Proposes nothing in the place of an intent.
 */
import { GLOBAL_OPTIONS, RUN_OPTIONS } from "./flags.ts";
import { ROOT } from "./root.ts";
import type { CommandRow, OptionRow, WordSlot } from "./row.ts";
import { findRow, ROWS } from "./rows.ts";

interface Candidate {
  readonly value: string;
  readonly meaning: string;
}

export interface Proposals {
  readonly candidates: readonly Candidate[];
  /** Further candidates to look up: `<pid>`. */
  readonly sources: readonly string[];
  /** The part already typed; every candidate begins with it. */
  readonly prefix: string;
  /** Put before each value: `--model=`. */
  readonly before: string;
}

/** `words`: those after `crux`; the last one is being typed and may be empty. */
export function proposalsFor(words: readonly string[]): Proposals {
  const line = readLine(joinEquals(words));
  const { prefix } = line;
  if (line.isIntent) return nothing(prefix);
  if (line.pending !== undefined) return placeProposals(line.pending.from ?? [], prefix);
  const inline = /^(--[\w-]+)=(.*)$/s.exec(prefix);
  if (inline !== null) {
    const [, name = "", value = ""] = inline;
    const option = line.options.find(({ flag }) => name === `--${flag}`);
    // bash splits at the equals sign and completes the part after it
    const before = words.at(-1) === prefix ? `${name}=` : "";
    return { ...placeProposals(option?.from ?? [], value), before };
  }
  if (prefix.startsWith("-")) return nothing(prefix, optionCandidates(line.options, prefix));
  return placeProposals(placeAt(line.row.words ?? [], line.position), prefix);
}

interface Line {
  readonly row: CommandRow;
  readonly options: readonly OptionRow[];
  /** The option whose value is the word being typed. */
  readonly pending?: OptionRow;
  /** How many words of the command precede this one. */
  readonly position: number;
  readonly prefix: string;
  readonly isIntent: boolean;
}

function readLine(words: readonly string[]): Line {
  const before = words.slice(0, -1);
  const prefix = words.at(-1) ?? "";
  let row: CommandRow = ROOT;
  let options = optionsOf(ROOT);
  let position = 0;
  let isIntent = false;
  let pending: OptionRow | undefined;
  for (const word of before) {
    if (pending !== undefined) pending = undefined;
    else if (word === "--") isIntent = true;
    else if (word.startsWith("-") && word !== "-") pending = takesNext(word, options);
    else if (row === ROOT) {
      const found = word === "" ? undefined : findRow(word);
      if (found === undefined) isIntent = true;
      else [row, options] = [found, optionsOf(found)];
    } else {
      const verb = position === 0 ? row.verbs?.find(({ name }) => name === word) : undefined;
      if (verb !== undefined) options = [...(verb.options ?? []), ...options];
      position++;
    }
  }
  return { row, options, position, prefix, isIntent, ...(pending === undefined ? {} : { pending }) };
}

function optionsOf(row: CommandRow): readonly OptionRow[] {
  return [...(row.options ?? []), ...(row.hasRunFlags === true ? RUN_OPTIONS : []), ...GLOBAL_OPTIONS];
}

/** The option whose value is the next word. */
function takesNext(word: string, options: readonly OptionRow[]): OptionRow | undefined {
  if (word.includes("=")) return undefined;
  const last = word.at(-1);
  return options.find(
    ({ flag, short, value }) =>
      value !== undefined && (word.startsWith("--") ? word === `--${flag}` : short === last),
  );
}

/** bash passes `--model=x` as three words. */
function joinEquals(words: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const [at, word] of words.entries()) {
    const isValue = words[at - 1] === "=" && at >= 2;
    const last = joined.at(-1) ?? "";
    if (word === "=" && /^--[\w-]+$/.test(last)) joined[joined.length - 1] = `${last}=`;
    else if (isValue && last.endsWith("=")) joined[joined.length - 1] = `${last}${word}`;
    else joined.push(word);
  }
  return joined;
}

function placeAt(words: readonly WordSlot[], position: number): WordSlot {
  const last = words.at(-1);
  return words[position] ?? (last?.at(-1) === "…" ? last : []);
}

function placeProposals(place: WordSlot, prefix: string): Proposals {
  const fixed = place.filter((word) => word !== "…" && !word.startsWith("<"));
  const sources = place.filter((word) => word.startsWith("<"));
  const commands = sources.includes("<command>") ? commandCandidates() : [];
  const candidates = [...fixed.map((value) => ({ value, meaning: "" })), ...commands];
  return {
    ...nothing(
      prefix,
      candidates.filter(({ value }) => value.startsWith(prefix)),
    ),
    sources: sources.filter((source) => source !== "<command>"),
  };
}

function commandCandidates(): readonly Candidate[] {
  return ROWS.filter(({ hidden }) => hidden !== true).map(({ name, brief }) => ({
    value: name,
    meaning: brief,
  }));
}

function optionCandidates(options: readonly OptionRow[], prefix: string): readonly Candidate[] {
  return options
    .map(({ flag, meaning }) => ({ value: `--${flag}`, meaning }))
    .filter(({ value }) => value.startsWith(prefix));
}

function nothing(prefix: string, candidates: readonly Candidate[] = []): Proposals {
  return { candidates, sources: [], prefix, before: "" };
}
