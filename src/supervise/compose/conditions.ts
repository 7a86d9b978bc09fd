/** Decides from the state of its dependencies whether a service may start. Pure. */
import type { DependsCondition } from "../../abi/compose/compose.ts";

/** The state of one replica. */
export interface ReplicaFacts {
  readonly hasStarted: boolean;
  readonly isReady: boolean;
  /** It was not ready in time. */
  readonly isLate: boolean;
  /** It has exited with 0. */
  readonly hasCompleted: boolean;
  /** It will not run again. */
  readonly isOver: boolean;
  readonly isSkipped: boolean;
}

export type Outlook =
  | { readonly kind: "go" }
  | { readonly kind: "wait"; readonly on: string; readonly condition: DependsCondition }
  /** It can never start. */
  | { readonly kind: "skip"; readonly reason: string };

/**
 * `factsOf` returns those of all replicas. A condition that can no longer hold counts before one that does not hold
 * yet.
 */
export function outlookOf(
  dependsOn: Readonly<Record<string, DependsCondition>>,
  factsOf: (service: string) => readonly ReplicaFacts[],
): Outlook {
  const needs = Object.entries(dependsOn).map(([on, condition]) => ({ on, condition, facts: factsOf(on) }));
  for (const { on, condition, facts } of needs) {
    const lost = facts.find((each) => !holds(condition, each) && isLost(condition, each));
    if (lost !== undefined) return { kind: "skip", reason: `${on} ${fateOf(condition, lost)}` };
  }
  const open = needs.find(({ condition, facts }) => !facts.every((each) => holds(condition, each)));
  return open === undefined ? { kind: "go" } : { kind: "wait", on: open.on, condition: open.condition };
}

function holds(condition: DependsCondition, facts: ReplicaFacts): boolean {
  switch (condition) {
    case "started":
      return facts.hasStarted;
    case "ready":
      return facts.isReady;
    case "completed":
      return facts.hasCompleted;
  }
}

function isLost(condition: DependsCondition, { isOver, isSkipped, isLate }: ReplicaFacts): boolean {
  return isOver || isSkipped || (condition === "ready" && isLate);
}

function fateOf(condition: DependsCondition, { isSkipped, isOver, hasCompleted }: ReplicaFacts): string {
  if (isSkipped) return "skipped";
  if (condition !== "ready" || (isOver && !hasCompleted)) return "failed";
  return isOver ? "completed without being ready" : "not ready in time";
}
