import { expect, test } from "vitest";
import { Fault } from "../abi/errors.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import { EXIT } from "../abi/process.ts";
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

test("a run that failed or reached a limit is on record with its next step, another one is not", async () => {
  const t = testKernel();
  const made = Promise.withResolvers<Sys>();
  t.programs.set("", (sys) => {
    made.resolve(sys);
    return new Promise(() => {});
  });
  await t.init.spawn("", null, { session: true });
  const sys = await made.promise;
  const fact = { kind: "no_agent" } as const;
  const err = new Fault({ code: "DRIVER", message: "the server is down", hint: "try later", fact });
  const ends = [
    ["completed", EXIT.completed],
    ["model_error", { code: 1, reason: "failed", kind: "fault", err }],
    ["max_turns", EXIT.maxSteps],
    ["aborted_tools", EXIT.sigint],
  ] as const;
  for (const [at, [reason, exit]] of ends.entries()) {
    sys.beginRun({ seq: at + 1, from: PID_KERNEL, client: "a", text: "go" }, true);
    await sys.endRun(reason, exit);
  }
  expect(t.journal.bodies("process.failed_run")).toEqual([
    {
      outcome: "failed",
      reason: "model_error",
      message: "the server is down",
      code: "DRIVER",
      hint: "try later",
      fact,
    },
    { outcome: "limit", reason: "max_turns", message: EXIT.maxSteps.reason },
  ]);
});
