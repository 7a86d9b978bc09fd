/**
 * What a status line program reads on stdin: one JSON object. Keys and units are those that such programs know already; a key
 * without a value here is absent.
 */
export interface StatusInput {
  /** uuid of the session. */
  readonly session_id: string;
  readonly session_name?: string;
  /** The one in use. */
  readonly model: { readonly id: string; readonly display_name: string };
  readonly workspace: {
    readonly current_dir: string;
    readonly project_dir: string;
    readonly added_dirs: readonly string[];
  };
  readonly version: string;
  readonly output_style: { readonly name: string };
  readonly permission_mode: string;
  readonly cost: {
    /** Of the session and all below it. */
    readonly total_cost_usd: number;
    /** Since the session began, in ms. */
    readonly total_duration_ms: number;
    /** Time of its model calls, in ms, and changed lines: what this terminal has seen of them. */
    readonly total_api_duration_ms: number;
    readonly total_lines_added: number;
    readonly total_lines_removed: number;
  };
  /** Absent: no model was asked yet. Tokens; percentages are from 0 to 100. */
  readonly context_window?: {
    readonly total_input_tokens: number;
    readonly total_output_tokens: number;
    readonly context_window_size: number;
    /** Of the last reply that this terminal has seen; null: none yet. */
    readonly current_usage: StatusUsage | null;
    readonly used_percentage: number;
    readonly remaining_percentage: number;
  };
  readonly exceeds_200k_tokens: boolean;
  readonly vim?: { readonly mode: string };
  /** Absent: the default one. */
  readonly agent?: { readonly name: string };
  /** Absent: the session works in no worktree of ours. */
  readonly worktree?: StatusWorktree;
}

interface StatusWorktree {
  readonly name: string;
  readonly path: string;
  /** Absent: no branch is checked out there. */
  readonly branch?: string;
  readonly original_cwd: string;
  readonly original_branch?: string;
}

export interface StatusUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}
