/**
 * The machine-readable subject of a refusal or a notice: enough for a client to suggest what to do next. The kernel
 * knows no client and names none of their commands; wire/codec/error.ts words facts for the command line. Facts are
 * stored in journals, so the meaning of a kind must not change.
 */
import type { BudgetUnit } from "./budget.ts";
import type { PermissionMode } from "./process.ts";

/** A log line and its subject. */
export interface Notice {
  readonly message: string;
  readonly fact?: Fact;
}

export type Fact = OfProcess<ProcessFact> | OfJournal | OfRights | OfNames | OfDaemon | Plain<PlainFact>;

type ProcessFact =
  | "no_process"
  /** It is not recorded, or its records were removed. */
  | "no_history"
  | "ended"
  | "running"
  /** Paused until a signal resumes it. */
  | "paused"
  /** Not in memory: it waits for the next message of its session. */
  | "resting"
  /** Not in memory: it has ended, or waits to be resumed. */
  | "stopped"
  /** It could not be read when its daemon started. */
  | "unread"
  /** It is not known whether the action was recorded. */
  | "unsure"
  | "no_job"
  /** The process does not have the limit that is to be changed. */
  | "no_limit";

type PlainFact =
  | "no_group"
  | "no_agent"
  | "no_project"
  /** Not running; its logs are kept. */
  | "project_down"
  | "project_ended"
  | "no_grant"
  | "not_mounted"
  | "path_taken"
  | "grants_full"
  /** The step is older than the oldest stored file snapshot. */
  | "files_forgotten"
  /** The model cannot judge calls, or the mode needs a model that can. */
  | "model_unfit"
  /** The mode can only be chosen when a process is started. */
  | "mode_at_start"
  /** This daemon can no longer write the journal; after a restart it works again. */
  | "journal_lost"
  /** The daemon is stopping and accepts no requests; the next one resumes with everything recorded. */
  | "stopping"
  /** A path that the kernel's own tree does not have. */
  | "no_tree_path"
  /** A file of records that is damaged, or holds something else. */
  | "bad_recording"
  /** No more folders can be trusted. */
  | "trust_full"
  /** A daemon has the journal open, so that it cannot be repaired. */
  | "journal_in_use";

type OfProcess<K> = K extends string ? { readonly kind: K; readonly pid: number } : never;
type Plain<K> = K extends string ? { readonly kind: K } : never;

type OfJournal =
  /** `pid` is null if the process is not known. */
  | { readonly kind: "damaged"; readonly pid: number | null }
  | { readonly kind: "disk"; readonly reason: string; readonly path: string };

/** What would have allowed a call: all of these rules together, or a mode. */
export type Remedy = { readonly rules: readonly string[] } | { readonly mode: PermissionMode };

type OfRights =
  /** `remedy` is null if only an answer of the user can allow it. */
  | { readonly kind: "needs_approval"; readonly remedy: Remedy | null }
  | { readonly kind: "above_ceiling"; readonly pid: number; readonly mode: PermissionMode }
  /** `need` is in dollars for the unit `usd`. */
  | {
      readonly kind: "limit_reached";
      readonly pid: number;
      readonly unit: BudgetUnit;
      readonly need: number;
    }
  /** The user must trust the folder first. */
  | { readonly kind: "untrusted"; readonly folder: string };

type OfNames =
  /** A file of the kernel's own tree where a folder is wanted. */
  | { readonly kind: "tree_file"; readonly path: string }
  /** A file of the host, which needs no kernel to be read. */
  | { readonly kind: "host_file"; readonly path: string }
  /** `near`: the setting that was probably meant; null: none is near. */
  | { readonly kind: "no_setting"; readonly near: string | null }
  /** A setting that no folder may set. */
  | { readonly kind: "own_setting"; readonly key: string }
  /** `ways`: how drivers that have this model are set up, a sentence each. */
  | { readonly kind: "no_model"; readonly model: string; readonly ways: readonly string[] };

type OfDaemon =
  /** The connection ended before the answer: the request may have taken effect. */
  | { readonly kind: "cut_off"; readonly method: string }
  /** It does not answer. */
  | Plain<"daemon_silent">
  /** It did not start in time. */
  | Plain<"daemon_late">
  /** It died again and again soon after its start, so it restores nothing. */
  | Plain<"safe_mode">
  /** The daemon is of another version than the client. */
  | Plain<"other_version">;
