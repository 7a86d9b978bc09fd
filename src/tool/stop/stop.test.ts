import { expect, test, vi } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { CALL_ID, testScope } from "../testing/bench.ts";
import type { RunContext } from "../tool.ts";
import { stop } from "./stop.ts";

/** Process 5; it knows the ends of `gone`, which have left the table. */
function caller({ procs, gone }: { readonly procs: readonly object[]; readonly gone: readonly number[] }) {
  const signal = vi.fn(async () => {});
  const sys = {
    getPid: () => asPid(5),
    listProcs: async () => procs,
    signal,
    ended: async (pid: Pid) => {
      if (gone.includes(Number(pid))) return { exit: EXIT.completed };
      throw new Fault({ code: "NOT_FOUND", message: "process not found" });
    },
  };
  const context: RunContext = {
    ...testScope("/w"),
    sys: sys as unknown as Syscalls,
    signal: new AbortController().signal,
    ...{ pid: asPid(5), callId: CALL_ID, now: () => 0, progress: () => {} },
  };
  const call = (to: string) => stop.bind({ to }, testScope("/w")).run(context);
  return { call, signal };
}

test("one that has ended is CONFLICT with how, in the table or not; a stranger is PERMISSION, an unknown one NOT_FOUND, and neither gets a signal", async () => {
  const procs = [
    { pid: 6, ppid: 5, exit: EXIT.budget },
    { pid: 7, ppid: 0, exit: null },
    { pid: 8, ppid: 7, exit: null },
  ];
  const { call, signal } = caller({ procs, gone: [9] });
  await expect(call("6")).rejects.toMatchObject({
    ...{ code: "CONFLICT", message: expect.stringContaining("6 has already ended (budget_exceeded)") },
  });
  await expect(call("9")).rejects.toMatchObject({
    ...{ code: "CONFLICT", message: expect.stringContaining("9 has already ended (completed)") },
  });
  for (const to of ["7", "8"]) await expect(call(to)).rejects.toMatchObject({ code: "PERMISSION" });
  await expect(call("10")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(signal).not.toHaveBeenCalled();
});
