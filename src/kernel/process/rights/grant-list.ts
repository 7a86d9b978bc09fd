/** Grants in memory: those of one session, or those that outlive sessions. Bounded: a full list takes no more. */
import type { Grant, GrantView } from "../../../abi/grants.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { Clock } from "../../../abi/program.ts";
import { LateMap } from "../../../lib/maps/late.ts";
import { isWithin } from "../../../lib/path.ts";
import { until } from "../../../lib/time/until.ts";
import { LIMITS } from "../../limits.ts";

/** The process that grants are matched against. */
export interface Grantee {
  readonly pid: Pid;
  /** Its ancestors at its spawn, nearest first. */
  readonly line: readonly Pid[];
  readonly cwd: string;
}

/** A record about a grant, parsed. */
export type GrantEvent =
  | { readonly kind: "add"; readonly grant: Grant }
  | { readonly kind: "remove" | "use"; readonly id: string }
  /** A budget grant: it has no rule. */
  | { readonly kind: "other" }
  /** The record cannot be trusted, or not be parsed. */
  | { readonly kind: "bad"; readonly why: string };

interface Held {
  readonly grant: Grant;
  used: number;
  /** How long it still holds, from its first use in this daemon on. */
  left?: () => number;
}

export class GrantList {
  readonly #held = new LateMap<string, Held>();

  get size(): number {
    return this.#held.size;
  }

  get isFull(): boolean {
    return this.#held.size >= LIMITS.sessionGrants;
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  find(id: string): Grant | undefined {
    return this.#held.get(id)?.grant;
  }

  /** Adding the same grant twice has no further effect. */
  add(grant: Grant): void {
    if (!this.#held.has(grant.id)) this.#held.set(grant.id, { grant, used: 0 });
  }

  /** False: not in the list. */
  remove(id: string): boolean {
    return this.#held.delete(id);
  }

  /** Spends one use; the last one removes the grant. */
  use(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    held.used++;
    if (held.grant.uses !== undefined && held.used >= held.grant.uses) this.#held.delete(id);
  }

  take(event: GrantEvent): void {
    if (event.kind === "add") this.add(event.grant);
    else if (event.kind === "remove") this.remove(event.id);
    else if (event.kind === "use") this.use(event.id);
  }

  /** Removes expired grants. */
  of(who: Grantee, clock: Pick<Clock, "now" | "mono">): readonly Grant[] {
    const found: Grant[] = [];
    for (const held of this.#held.values()) {
      const { grant } = held;
      if (grant.expiresAt !== undefined) held.left ??= until(grant.expiresAt, clock);
      if (held.left !== undefined && held.left() <= 0) this.#held.delete(grant.id);
      else if (reaches(grant, who)) found.push(grant);
    }
    return found;
  }

  views(session: Pid): readonly GrantView[] {
    return [...this.#held.values()].map(({ grant, used }) => ({ ...grant, used, session }));
  }
}

/** A deny binds descendants too: a process must not get around it by starting another. */
function reaches({ scope, behavior, pid, root }: Grant, who: Grantee): boolean {
  switch (scope) {
    case "session":
    case "user":
      return true;
    case "project":
      return root !== undefined && isWithin(root, who.cwd);
    case "subtree":
      return pid === who.pid || who.line.some((above) => above === pid);
    case "once":
    case "process":
      return pid === who.pid || (behavior !== "allow" && who.line.some((above) => above === pid));
  }
}
