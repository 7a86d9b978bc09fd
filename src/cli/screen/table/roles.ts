/** What a process is to the one that started it, and what it costs with all below it. */
import { isInternal } from "../../../abi/fork.ts";
import type { WireRow } from "../../../abi/methods/process.ts";
import { type Branch, forest } from "./forest.ts";

export type Role = Exclude<WireRow["kind"], "agent"> | "main" | "subagent" | "fork" | "internal";

type Parented = Pick<WireRow, "pid" | "ppid" | "kind" | "fork">;

/** By pid. An agent below another is its subagent, whatever programs stand between them. */
export function rolesOf(rows: readonly Parented[]): ReadonlyMap<number, Role> {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const isBelowAgent = (row: Parented): boolean => {
    const passed = new Set([row.pid]);
    for (let at = byPid.get(row.ppid); at !== undefined && !passed.has(at.pid); at = byPid.get(at.ppid)) {
      if (at.kind === "agent") return true;
      passed.add(at.pid);
    }
    return false;
  };
  const roleOf = (row: Parented): Role =>
    row.kind !== "agent"
      ? row.kind
      : row.fork !== undefined
        ? isInternal(row.fork)
          ? "internal"
          : "fork"
        : isBelowAgent(row)
          ? "subagent"
          : "main";
  return new Map(rows.map((row) => [row.pid, roleOf(row)]));
}

/** What an agent or a mount starts for itself is shown only where all are asked for. */
export function isShown(row: Pick<WireRow, "kind" | "fork">): boolean {
  return row.kind !== "service" && !isInternal(row.fork);
}

/** `agent` for one that the user started: only the others need another word. */
export function roleWord(role: Role | undefined): string {
  return role === undefined || role === "main" ? "agent" : role;
}

export type SubtreeCost = Pick<Branch, "subtreeUsd" | "subtreeUnpriced">;

/** By pid. */
export function subtreeCosts(rows: readonly WireRow[]): ReadonlyMap<number, SubtreeCost> {
  return new Map(forest(rows).map((branch) => [branch.row.pid, branch]));
}
