/** When a service of a project may start: what its dependencies have come to. Pure. */
import type { DependsCondition } from "../../abi/compose/compose.ts";

/** What has become of one replica so far. */
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
  /** It never will. */
  | { readonly kind: "skip"; readonly reason: string };

/** `factsOf`: of all replicas of a service. What cannot come true any more outweighs what may still. */
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
