/**
 * What a top-level process shares with all its descendants: the "always" answers of the user, and the clients that can
 * be asked. Grants live as long as the session and are journalled where they are given.
 */

import { Approvers } from "../log/approvers.ts";
import type { RecordOwner } from "../ports/journal.ts";
import { Circuit } from "./circuit.ts";
import { Denials } from "./denials.ts";
import { GrantList } from "./rights/grant-list.ts";

export class Session {
  /** The top-level process, whose history holds the grants. null: the kernel's own session, which asks nobody. */
  readonly owner: RecordOwner | null;
  /** Changed by `Grants` alone (consent/grants). */
  readonly grants = new GrantList();
  /** Clients that can answer questions. */
  readonly approvers = new Approvers();
  /** Journalled by gate/denied.ts, in the history of the owner. */
  readonly denials = new Denials();
  /** Journalled by consent/classify/classifications.ts, in the history of the owner. */
  readonly circuit = new Circuit();

  /** Set by process/tree/scratchpad.ts alone. null: it has none yet; undefined: nobody has looked. */
  scratchpad: string | null | undefined;

  constructor(owner: RecordOwner | null) {
    this.owner = owner;
  }

  /** Whether a client that can answer is attached now. */
  get canAsk(): boolean {
    return this.approvers.isHeard;
  }
}
