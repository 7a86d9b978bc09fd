import { describe, expect, test } from "vitest";
import type { DependsCondition } from "../../abi/compose/compose.ts";
import { outlookOf, type ReplicaFacts } from "./conditions.ts";

const NEW: ReplicaFacts = {
  hasStarted: false,
  isReady: false,
  isLate: false,
  hasCompleted: false,
  isOver: false,
  isSkipped: false,
};
const started = { ...NEW, hasStarted: true };
const ready = { ...started, isReady: true };
const late = { ...started, isLate: true };
const completed = { ...started, hasCompleted: true, isOver: true };
const failed = { ...started, isOver: true };
const unstarted = { ...NEW, isOver: true };
const skipped = { ...NEW, isSkipped: true };

const rows: [DependsCondition, ReplicaFacts, string][] = [
  ["started", NEW, "wait"],
  ["started", started, "go"],
  ["started", failed, "go"],
  ["started", unstarted, "db failed"],
  ["started", skipped, "db skipped"],
  ["ready", started, "wait"],
  ["ready", ready, "go"],
  ["ready", late, "db not ready in time"],
  ["ready", { ...late, isReady: true }, "go"],
  ["ready", failed, "db failed"],
  ["ready", completed, "db completed without being ready"],
  ["ready", skipped, "db skipped"],
  ["completed", started, "wait"],
  ["completed", late, "wait"],
  ["completed", { ...started, hasCompleted: true }, "go"],
  ["completed", completed, "go"],
  ["completed", failed, "db failed"],
  ["completed", skipped, "db skipped"],
];

describe("outlookOf()", () => {
  test.each(rows)("%s, %o: %s", (condition, facts, expected) => {
    const outlook = outlookOf({ db: condition }, () => [facts]);
    expect(outlook.kind === "skip" ? outlook.reason : outlook.kind).toBe(expected);
  });

  test("all replicas count", () => {
    const of = (...facts: ReplicaFacts[]) => outlookOf({ db: "started" }, () => facts);
    expect(of(started, NEW)).toEqual({ kind: "wait", on: "db", condition: "started" });
    expect(of(started, started)).toEqual({ kind: "go" });
    expect(of(started, unstarted, NEW)).toEqual({ kind: "skip", reason: "db failed" });
  });

  test("the first that is open is waited for; one that is lost outweighs it", () => {
    const facts = new Map([
      ["a", [ready]],
      ["b", [NEW]],
      ["c", [started]],
    ]);
    const of = (name: string) => facts.get(name) ?? [];
    expect(outlookOf({ a: "ready", b: "started", c: "ready" }, of)).toEqual({
      kind: "wait",
      on: "b",
      condition: "started",
    });
    facts.set("c", [failed]);
    expect(outlookOf({ a: "ready", b: "started", c: "ready" }, of)).toEqual({
      kind: "skip",
      reason: "c failed",
    });
    expect(outlookOf({}, of)).toEqual({ kind: "go" });
  });
});
