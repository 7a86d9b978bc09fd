/**
 * What a top-level process shares with all its descendants: the "always" answers a person gave, and who can be asked.
 * Grants live as long as the session and are journalled where they are given.
 */
import type { RecordOwner } from "../ports/journal.ts";
import type { Watchers } from "./watchers.ts";

export class Session {
  /** The top-level process: its history keeps the grants. null: the kernel's own, which asks nobody. */
  readonly owner: RecordOwner | null;
  readonly #grants: string[];
  /** The watchers of the top-level process, once it exists, if its client can answer questions. */
  approvers: Watchers | null = null;

  /** `grants`: given while an earlier daemon ran. */
  constructor(owner: RecordOwner | null, grants: readonly string[] = []) {
    this.owner = owner;
    this.#grants = [...new Set(grants)];
  }

  get grants(): readonly string[] {
    return this.#grants;
  }

  get canAsk(): boolean {
    return this.approvers?.isHeard === true;
  }

  addGrant(rule: string): void {
    if (!this.#grants.includes(rule)) this.#grants.push(rule);
  }
}
