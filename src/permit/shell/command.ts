/** Simple commands as they stand in a text, before wrappers are unfolded. */
import type { Spelling } from "./spelling.ts";
import type { Word } from "./word.ts";

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

export interface Redirect {
  readonly operator: string;
  /** Absent: a descriptor is closed or doubled. */
  readonly target?: Word;
}

export interface SimpleCommand {
  /** Empty: there are only redirections, assignments, or something that bash evaluates. */
  readonly argv: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  /** Of a here-document or here-string whose text is known. */
  readonly input?: string;
  /** Names that the command before it in the pipe prints. */
  readonly fed?: readonly Spelling[] | undefined;
  /** Where it may run; null: not known. */
  readonly cwds: readonly string[] | null;
  /** What bash evaluates here that no allow rule covers, in words for a person. */
  readonly evaluates: string | null;
  /** As it stands in the text. */
  readonly source: string;
}

export interface ShellProgram {
  readonly commands: readonly SimpleCommand[];
  /** Names that are defined as functions: what they stand for is not the program of that name. */
  readonly functions: ReadonlySet<string>;
}
