import { describe, expect, test } from "vitest";
import type { Effect } from "../abi/effects.ts";
import type { ChildSpec } from "../abi/supervise.ts";
import { guardedBench } from "../kernel/testing/guarded.ts";
import { agentFile } from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";

describe("SpawnSupervisor of a tool", () => {
  const wanted: ChildSpec = { id: "a", start: { agent: "helper", intent: "help" } };
  const command: ChildSpec = { id: "b", start: { command: ["rm", "-r", "/"] } };
  const nested: ChildSpec = { id: "c", start: { supervisor: { name: "inner", children: [command] } } };
  const declared: Effect = { kind: "spawn", program: "helper", background: true };

  async function call(children: readonly ChildSpec[]) {
    const bench = await guardedBench();
    bench.t.agents.set("helper", agentFile());
    bench.t.programs.set(
      "help",
      ({ ending }) => new Promise((_, reject) => ending.addEventListener("abort", reject)),
    );
    bench.tool.script.effects = [declared];
    bench.acts(async (sys) => void (await sys.spawnSupervisor({ name: "shop", children })));
    return { bench, done: bench.call() };
  }

  test("starts what was declared", async () => {
    const { bench, done } = await call([wanted]);
    await done;
    expect([...bench.t.kernel.table.all()].map((proc) => proc.seed.kind)).toEqual([
      "agent",
      "supervisor",
      "agent",
    ]);
    await bench.t.kernel.signalTree(bench.pid, 2);
    await settle(6);
  });

  test.each([
    ["another agent", { id: "d", start: { agent: "other", intent: "help" } }],
    ["general mode", { id: "d", start: { intent: "help" } }],
    ["a command", command],
    ["a command further below", nested],
  ] as const)("PERMISSION, and nothing is started: %s", async (_what, child) => {
    const { bench, done } = await call([wanted, child]);
    await expect(done).rejects.toMatchObject({ code: "PERMISSION" });
    expect(bench.t.kernel.table.size).toBe(1);
  });
});
