/**
 * A permission that the user gave, and its scope. It applies in addition to the settings and to the rights of a
 * process.
 */
import type { Pid } from "./ids.ts";

/**
 * `once`: the next call that needs it. `process`: that process alone. `subtree`: also its descendants. `session`: all
 * of its session. `project`: every process that works below `root`. `user`: all. A deny binds living descendants in any
 * scope.
 */
export const GRANT_SCOPES = ["once", "process", "subtree", "session", "project", "user"] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** The client that gave it. */
export interface GrantBy {
  /** The principal as the wire names it: `user`. */
  readonly principal: string;
  /** The name of the client; "": it gave none. */
  readonly client: string;
  /** The OS user id; null: not known. */
  readonly uid: number | null;
}

export interface Grant {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly by: GrantBy;
  readonly behavior: "allow" | "ask" | "deny";
  /** A rule as in settings; `mode(auto)`: the mode may be raised up to auto. */
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
  /** It holds as long as the connection of its client, and at most as long as this daemon (its epoch in the journal). */
  readonly epoch?: number;
  /** The id of the question that it answered; "": none. */
  readonly requestId: string;
}

/** A grant as clients show it. */
export interface GrantView extends Grant {
  /** The number of calls it allowed; counted only if `uses` is set. */
  readonly used: number;
  /** The top-level process of the session it belongs to; 0: it outlives sessions. */
  readonly session: Pid;
}
