import { expect, test } from "vitest";
import { PID_KERNEL } from "../abi/ids.ts";
import type { Sys } from "../abi/sys.ts";
import { testKernel } from "../kernel/testing/test-kernel.ts";

test("a session that began without an intent is listed with the first words said to it", async () => {
  const t = testKernel();
  const made = Promise.withResolvers<Sys>();
  t.programs.set("", (sys) => {
    made.resolve(sys);
    return new Promise(() => {});
  });
  const pid = await t.init.spawn("", null, { session: true });
  const sys = await made.promise;
  const intent = async () => (await t.init.listProcs()).find((proc) => proc.pid === pid)?.intent;
  expect(await intent()).toBe("");
  for (const [seq, text] of ["count the files\nplease", "and the folders"].entries())
    sys.beginRun({ seq: seq + 1, from: PID_KERNEL, client: "a", text }, true);
  expect(await intent()).toBe("count the files");
});
