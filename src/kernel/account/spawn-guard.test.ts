/** A program of the host that starts agents in its own name. */
import { expect, test } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { asFd } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { childClient } from "../process/child-client.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { bytes, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function program(budget: object = {}) {
  const exec = new FakePrograms();
  const t = testKernel({ exec });
  const pid = await t.init.spawn("", null, { command: ["bomb"], budget });
  const proc = t.proc(pid);
  const sys = childClient(t.kernel, proc.seed.uuid)?.sys;
  if (sys == null) throw new Error("it has no hands");
  t.programs.set(
    "a",
    ({ ending }) => new Promise<never>((_done, failed) => ending.addEventListener("abort", failed)),
  );
  return { t, pid, proc, spawn: () => sys.spawn("a", null, {}) };
}

test("has no more agents at once than an agent has", async () => {
  const { t, pid, spawn } = await program();
  for (let i = 0; i < LIMITS.agentChildren; i++) await spawn();
  await expect(spawn()).rejects.toMatchObject({
    code: "BUDGET",
    details: { account: pid, unit: "concurrent", limit: LIMITS.agentChildren },
  });
  await t.kernel.abandon("over");
});

test("has no more in all than its limit says, whether they ended or not", async () => {
  const { t, proc, spawn } = await program({ children: 3 });
  for (let i = 0; i < 3; i++) await t.init.kill(await spawn(), 2);
  await expect(spawn()).rejects.toMatchObject({
    code: "BUDGET",
    details: { unit: "children", limit: 3, used: 3 },
  });
  expect(proc.seed.account.children).toBe(3);
  await t.kernel.abandon("over");
});

test("a bomb of agents that all call the model ends within the budget, and nothing is left", async () => {
  const { t, pid, proc, spawn } = await program({ tokens: 1_000, children: 40 });
  t.model.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 0 }];
  t.model.script.plan = { reserve: { tokens: 100, usd: null } };
  t.model.script.charge = () => ({ tokens: 60, usd: null });
  t.programs.set("a", async (sys) => {
    for (;;) await sys.write(asFd(3), bytes("{}"));
  });
  const refusals: string[] = [];
  const loop = async (): Promise<void> => {
    for (;;) {
      try {
        await spawn();
      } catch (error) {
        refusals.push(codeOf(error));
        return;
      }
      await settle(4);
    }
  };
  await Promise.all([loop(), loop(), loop()]);
  await settle(20);
  expect(refusals).toEqual(["BUDGET", "BUDGET", "BUDGET"]);
  const { account } = proc.seed;
  expect(account.children).toBeLessThanOrEqual(40);
  expect(account.reserved).toEqual({ tokens: 0, microUsd: 0, steps: 0 });
  expect(account.spent.tokens).toBeGreaterThan(0);
  expect(account.spent.tokens).toBeLessThanOrEqual(1_000);
  const agents = [...t.kernel.table.all()].filter(({ seed }) => seed.kind === "agent");
  expect(agents.filter(({ isLive }) => isLive)).toEqual([]);
  expect(agents.reduce((sum, { used }) => sum + used.tokens, 0)).toBeLessThanOrEqual(account.spent.tokens);
  await t.init.kill(pid, 2);
  await t.kernel.abandon("over");
  expect([...t.kernel.table.all()].filter(({ isLive, pid: each }) => isLive && each !== 0)).toEqual([]);
});
