/**
 * What a top-level process shares with all its descendants: the "always" answers a person gave, and who can be asked.
 * Grants live as long as the session and are journalled where they are given.
 */

import { GrantList } from "../../consent/grants/grant-list.ts";
import { Approvers } from "../log/approvers.ts";
import type { RecordOwner } from "../ports/journal.ts";
import { Circuit } from "./circuit.ts";
import { Denials } from "./denials.ts";

export class Session {
  /** The top-level process: its history keeps the grants. null: the kernel's own, which asks nobody. */
  readonly owner: RecordOwner | null;
  /** Changed by `Grants` alone (consent/grants). */
  readonly grants = new GrantList();
  /** Clients that can answer questions. */
  readonly approvers = new Approvers();
  /** Journalled by syscall/denied.ts, in the history of the owner. */
  readonly denials = new Denials();
  /** Journalled by classify/auto-mode.ts, in the history of the owner. */
  readonly circuit = new Circuit();

  constructor(owner: RecordOwner | null) {
    this.owner = owner;
  }

  /** Somebody is there now who can answer. */
  get canAsk(): boolean {
    return this.approvers.isHeard;
  }
}
