/** A program of the host that starts agents in its own name. */
import { expect, test } from "vitest";
import { LIMITS } from "../limits.ts";
import { childClient } from "../process/child-client.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { testKernel } from "../testing/test-kernel.ts";

async function program(budget: object = {}) {
  const exec = new FakePrograms();
  const t = testKernel({ exec });
  const pid = await t.init.spawn("", null, { command: ["bomb"], budget });
  const proc = t.proc(pid);
  const sys = childClient(t.kernel, proc.seed.uuid)?.sys;
  if (sys == null) throw new Error("it has no hands");
  t.programs.set(
    "a",
    ({ signal }) => new Promise<never>((_done, failed) => signal.addEventListener("abort", failed)),
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
