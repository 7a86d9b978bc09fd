/**
 * The table of commands: a row has the name, arguments and purpose of a command. Help, completion and the man page are
 * generated from it, so they always agree. Only these load it.
 */

/**
 * The words possible at one position of a command line. A word in angle brackets is looked up at completion, any other
 * is literal; `…` at the end means that the position may be repeated.
 */
export type WordSlot = readonly string[];

export interface OptionRow {
  /** The long name without its dashes. */
  readonly flag: string;
  readonly short?: string;
  /** Its value as help shows it; absent: the flag takes no value. */
  readonly value?: string;
  readonly meaning: string;
  /** Where completion looks up its values. */
  readonly from?: WordSlot;
}

/** A word that selects an action of a command, with flags of its own. */
interface VerbRow {
  readonly name: string;
  /** The name with its arguments. */
  readonly head: string;
  readonly meaning: string;
  readonly options?: readonly OptionRow[];
}

/** Without `crux`; with a meaning if a command has several forms. */
export type UsageRow = string | readonly [form: string, meaning: string];

export interface CommandRow {
  readonly name: string;
  /** In the overview: the name with its arguments, and a few words. */
  readonly head: string;
  readonly brief: string;
  /** The first line of its help. */
  readonly summary: string;
  readonly usage: readonly UsageRow[];
  readonly options?: readonly OptionRow[];
  readonly verbs?: readonly VerbRow[];
  /** The command takes the flags of a run, too. */
  readonly hasRunFlags?: true;
  /** The words possible at its positions, for completion. */
  readonly words?: readonly WordSlot[];
  /** Further explanation, in lines as they are printed. */
  readonly about?: string;
  /** Whole command lines, as typed. */
  readonly examples?: readonly string[];
  /** Text after the examples: exit codes. */
  readonly after?: string;
  /** Called by programs: not listed by help or completion. */
  readonly hidden?: true;
}

export interface CommandGroup {
  readonly title: string;
  readonly rows: readonly CommandRow[];
}
