import { expect, test } from "vitest";
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import { Facts } from "../facts/facet.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { weightFacet } from "./weight.ts";

const by = { principal: "user", client: "", uid: 1000 } as const;

test("renice() is recorded before it holds, and is read back from its record", async () => {
  const t = testKernel();
  const { pid, proc } = await t.start();
  expect(proc.weight).toBe(10);
  await t.kernel.renice(pid, { weight: 30, by });
  expect(proc.weight).toBe(30);
  expect(t.kernel.view().sched(pid)).toEqual({ class: "foreground", weight: 30 });
  const [body] = t.journal.bodies("process.weight");
  expect(body).toEqual({ weight: 30, by });
  const restored = new Facts();
  restored.change(weightFacet, "process.weight", body as never);
  expect(restored.of(weightFacet)).toBe(30);
  expect(weightFacet.unpack(weightFacet.pack(30))).toBe(30);
});

test.each([0, 101, 1.5, Number.NaN])(
  "renice() refuses the weight %s, and changes nothing",
  async (weight) => {
    const t = testKernel();
    const { pid, proc } = await t.start();
    await expect(t.kernel.renice(pid, { weight, by })).rejects.toMatchObject({ code: "INVALID" });
    expect([proc.weight, t.journal.bodies("process.weight")]).toEqual([10, []]);
  },
);

test("renice() needs a process that has not ended, and not the kernel's own", async () => {
  const t = testKernel();
  const { pid, end } = await t.start();
  end();
  await t.init.wait(pid);
  await expect(t.kernel.renice(pid, { weight: 5, by })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(t.kernel.renice(asPid(99), { weight: 5, by })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(t.kernel.renice(PID_KERNEL, { weight: 5, by })).rejects.toMatchObject({ code: "INVALID" });
});
