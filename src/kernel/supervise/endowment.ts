/**
 * What a child keeps from run to run, so that a restart neither fills its budget again nor gives it rights it had not: its
 * account, its agent as it was first loaded, its permission mode. A nested supervisor keeps that of its children too. As
 * many as the specification has children.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Account } from "../account/account.ts";

export class Endowment {
  account: Account | null = null;
  /** Loaded once: who could change an agent file would else give the next run its rights. */
  agent: { readonly info: AgentInfo | null } | null = null;
  mode: PermissionMode | null = null;
  #children: Map<string, Endowment> | null = null;

  of(id: string): Endowment {
    this.#children ??= new Map();
    const known = this.#children.get(id) ?? new Endowment();
    this.#children.set(id, known);
    return known;
  }

  forget(id: string): void {
    this.#children?.delete(id);
  }
}
