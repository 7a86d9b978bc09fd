/**
 * What a refusal or a notice is about, beside its words: enough for a client to say what to do next. The kernel knows no client and
 * names no command of one; wire/codec/error.ts words them for the command line. Kept in journals: a kind keeps its meaning.
 */
import type { BudgetUnit } from "./budget.ts";
import type { PermissionMode } from "./process.ts";

/** Words with what they are about: a line of a log. */
export interface Notice {
  readonly message: string;
  readonly fact?: Fact;
}

export type Fact = OfProcess<ProcessFact> | OfJournal | OfRights | Plain<PlainFact>;

type ProcessFact =
  | "no_process"
  /** It is not on record, or not any more. */
  | "no_history"
  | "ended"
  | "running"
  /** Until a signal resumes it. */
  | "paused"
  /** Not in memory: it waits for the next message of its session. */
  | "resting"
  /** Not in memory: it has ended, or waits until it is resumed. */
  | "stopped"
  /** It could not be read when its daemon started. */
  | "unread"
  /** It may have been recorded, or not. */
  | "unsure"
  | "no_job"
  /** There is no such limit to change. */
  | "no_limit";

type PlainFact =
  | "no_group"
  | "no_agent"
  | "no_project"
  /** Not running; what it wrote is kept. */
  | "project_down"
  | "project_ended"
  | "no_grant"
  | "not_mounted"
  | "path_taken"
  | "grants_full"
  /** Steps from before the oldest kept file. */
  | "files_forgotten"
  /** A model that cannot judge, or a mode that needs one which can. */
  | "model_unfit"
  /** A mode that only the start of a process can choose. */
  | "mode_at_start"
  /** This daemon can write the journal no more; the next can. */
  | "journal_lost"
  /** The daemon ends: it takes no request any more, and the next one has what was done. */
  | "stopping";

type OfProcess<K> = K extends string ? { readonly kind: K; readonly pid: number } : never;
type Plain<K> = K extends string ? { readonly kind: K } : never;

type OfJournal =
  /** null: of which process is not known. */
  | { readonly kind: "damaged"; readonly pid: number | null }
  | { readonly kind: "disk"; readonly reason: string; readonly path: string };

/** What would have let a call happen: rules, all of them; or a mode. */
export type Remedy = { readonly rules: readonly string[] } | { readonly mode: PermissionMode };

type OfRights =
  /** null: nothing but the user's answer. */
  | { readonly kind: "needs_approval"; readonly remedy: Remedy | null }
  | { readonly kind: "above_ceiling"; readonly pid: number; readonly mode: PermissionMode }
  /** `need`: dollars for `usd`. */
  | {
      readonly kind: "limit_reached";
      readonly pid: number;
      readonly unit: BudgetUnit;
      readonly need: number;
    }
  /** Of a folder that the user has to trust first. */
  | { readonly kind: "untrusted"; readonly folder: string };
