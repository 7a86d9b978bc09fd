import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXIT, type ExitStatus, isLost } from "../abi/process.ts";
import type { Restart, RestartDecision } from "../abi/supervise.ts";
import { decide, type ExitFacts } from "./decide.ts";

const FAULT: ExitStatus = { code: 1, reason: "boom", kind: "fault" };
const FACTS: ExitFacts = { isStopping: false, isOrdered: false, isRefused: false, budgetLeft: true };

describe("decide()", () => {
  const rows: [string, Restart, ExitStatus, Partial<ExitFacts>, RestartDecision][] = [
    ["the supervisor stops it", "permanent", FAULT, { isStopping: true }, "none"],
    ["the supervisor stops it, over its budget", "permanent", EXIT.budget, { isStopping: true }, "none"],
    ["temporary, done", "temporary", EXIT.completed, {}, "drop"],
    ["temporary, a fault", "temporary", FAULT, {}, "drop"],
    ["temporary, beyond the intensity", "temporary", FAULT, { budgetLeft: false }, "drop"],
    ["temporary, over its budget", "temporary", EXIT.budget, {}, "drop"],
    ["transient, done", "transient", EXIT.completed, {}, "drop"],
    ["transient, a limit", "transient", EXIT.maxSteps, {}, "drop"],
    ["transient, over its budget", "transient", EXIT.budget, {}, "drop"],
    ["transient, killed by a person", "transient", EXIT.sigkill, { isOrdered: true }, "drop"],
    [
      "transient, ended by a person with an exit code of its own",
      "transient",
      FAULT,
      { isOrdered: true },
      "drop",
    ],
    ["transient, killed by nobody", "transient", EXIT.sigkill, {}, "restart"],
    ["transient, a fault", "transient", FAULT, {}, "restart"],
    ["transient, a fault beyond the intensity", "transient", FAULT, { budgetLeft: false }, "escalate"],
    ["permanent, done", "permanent", EXIT.completed, {}, "restart"],
    ["permanent, killed by a person", "permanent", EXIT.sigterm, { isOrdered: true }, "restart"],
    ["permanent, over its budget", "permanent", EXIT.budget, {}, "escalate"],
    [
      "permanent, a program that exits 2",
      "permanent",
      { code: 2, reason: "exit 2", kind: "fault" },
      {},
      "restart",
    ],
    [
      "permanent, lost with its daemon beyond the intensity",
      "permanent",
      EXIT.lost,
      { budgetLeft: false },
      "restart",
    ],
    ["transient, lost with its daemon", "transient", EXIT.lost, { budgetLeft: false }, "restart"],
    ["temporary, lost with its daemon", "temporary", EXIT.lost, {}, "drop"],
    ["permanent, refused its start", "permanent", FAULT, { isRefused: true }, "escalate"],
    ["permanent, beyond the intensity", "permanent", EXIT.completed, { budgetLeft: false }, "escalate"],
  ];

  test.each(rows)("%s", (_what, restart, exit, facts, decision) => {
    expect(decide(restart, exit, { ...FACTS, ...facts })).toBe(decision);
  });

  test("restarts nobody without budget, whatever comes, but what was lost with its daemon", () => {
    const exit = fc.oneof(
      fc.constantFrom<ExitStatus>(...Object.values(EXIT).filter((one) => !isLost(one)), FAULT),
      fc.record({
        code: fc.nat(255),
        reason: fc.string(),
        kind: fc.constantFrom<ExitStatus["kind"]>("done", "fault", "killed"),
      }),
    );
    const facts = fc.record({ isStopping: fc.boolean(), isOrdered: fc.boolean(), isRefused: fc.boolean() });
    const restart = fc.constantFrom<Restart>("permanent", "transient", "temporary");
    fc.assert(
      fc.property(restart, exit, facts, (kind, status, given) => {
        expect(decide(kind, status, { ...given, budgetLeft: false })).not.toBe("restart");
      }),
      { numRuns: 10_000 },
    );
  });
});
