/** Simple commands as written in a text, before wrappers are unfolded. */
import type { Spelling } from "./spelling.ts";
import type { Word } from "./word.ts";

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

export interface Redirect {
  readonly operator: string;
  /** Absent if a descriptor is closed or duplicated. */
  readonly target?: Word;
}

export interface SimpleCommand {
  /** Empty if the command consists of redirections, assignments, or something that bash evaluates. */
  readonly argv: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  /** The text of a here-document or here-string, if it is known. */
  readonly input?: string;
  /** What the preceding command of the pipe prints, if it is known. */
  readonly fed?: readonly Spelling[] | undefined;
  /** The directories in which it may run; null: unknown. */
  readonly cwds: readonly string[] | null;
  /** What bash evaluates here that no allow rule covers, worded for the user. */
  readonly evaluates: string | null;
  /** The command as written in the text. */
  readonly source: string;
}

export interface ShellProgram {
  readonly commands: readonly SimpleCommand[];
  /** Names defined as functions: a call of one does not run the program of that name. */
  readonly functions: ReadonlySet<string>;
}
