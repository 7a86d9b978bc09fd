/**
 * The table of commands: one row says what a command is called, takes and does. Help, completion and the man page are made
 * from it, so what one of them says the others say too. Only they load it: no other command does.
 */

/**
 * What stands at one place of a command line. A word in angle brackets is looked up when it is completed, any other is
 * itself; `…` at the end says that the place may be repeated.
 */
export type WordSlot = readonly string[];

export interface OptionRow {
  /** The long spelling, without its dashes. */
  readonly flag: string;
  readonly short?: string;
  /** What it takes, as help shows it; absent: it takes nothing. */
  readonly value?: string;
  readonly meaning: string;
  /** Where its values come from. */
  readonly from?: WordSlot;
}

/** A word that chooses what a command does, with flags of its own. */
interface VerbRow {
  readonly name: string;
  /** With what it takes. */
  readonly head: string;
  readonly meaning: string;
  readonly options?: readonly OptionRow[];
}

/** Without `crux`; with a meaning where there are several forms. */
export type UsageRow = string | readonly [form: string, meaning: string];

export interface CommandRow {
  readonly name: string;
  /** In the overview: the name with what it takes, and a few words. */
  readonly head: string;
  readonly brief: string;
  /** The first line of its help. */
  readonly summary: string;
  readonly usage: readonly UsageRow[];
  readonly options?: readonly OptionRow[];
  readonly verbs?: readonly VerbRow[];
  /** It takes the flags of a run, too. */
  readonly hasRunFlags?: true;
  /** What stands at its places, for completion. */
  readonly words?: readonly WordSlot[];
  /** What there is to know, in lines as they are printed. */
  readonly about?: string;
  /** Whole lines, as they are typed. */
  readonly examples?: readonly string[];
  /** Behind the examples: exit codes. */
  readonly after?: string;
  /** Called by programs: neither help nor completion lists it. */
  readonly hidden?: true;
}

export interface CommandGroup {
  readonly title: string;
  readonly rows: readonly CommandRow[];
}
