/** A permission that the user gave, and its scope. It adds to the settings and to the rights that a process has from its spawn. */
import type { Pid } from "./ids.ts";

/**
 * `once`: the next call that needs it. `process`: that process alone. `subtree`: with all it starts. `session`: with all of its
 * session. `project`: whoever works below `root`. `user`: all. A deny binds living descendants whatever its scope.
 */
export const GRANT_SCOPES = ["once", "process", "subtree", "session", "project", "user"] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** Who gave it. */
export interface GrantBy {
  /** `user`; as the wire names it. */
  readonly principal: string;
  /** "" where it did not say. */
  readonly client: string;
  /** null: not known. */
  readonly uid: number | null;
}

export interface Grant {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly by: GrantBy;
  readonly behavior: "allow" | "ask" | "deny";
  /** A rule as in settings; `mode(auto)`: the mode may rise as far as that. */
  readonly rule: string;
  readonly scope: GrantScope;
  /** The process it applies to, for the scopes `once`, `process` and `subtree`. */
  readonly pid?: Pid;
  /** The folder, for the scope `project`: a real path. */
  readonly root?: string;
  /** Wall clock, ms. */
  readonly expiresAt?: number;
  /** How many times it may be used; absent: no limit. */
  readonly uses?: number;
  /** The question that it answered; "" none. */
  readonly requestId: string;
}

/** A grant as clients show it. */
export interface GrantView extends Grant {
  /** Calls that were allowed by it; counted only where `uses` bounds them. */
  readonly used: number;
  /** The top-level process of the session it belongs to; 0: it outlives sessions. */
  readonly session: Pid;
}
