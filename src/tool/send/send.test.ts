import { expect, test, vi } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { noteChild } from "../child-process.ts";
import { CALL_ID, testScope } from "../testing/bench.ts";
import type { RunContext } from "../tool.ts";
import { send } from "./send.ts";

const FILE = "/var/out/agent-000000000007";

/** Process 5 has started `alive` (6), `ended` (7), which has left the table, and `pruned` (8), of which nothing is left. */
function caller() {
  const kept = new Map<string, unknown>();
  const sent = vi.fn(async () => {});
  const child = { call: "", name: "alive", agentId: "agent-000000000006" };
  const sys = {
    getPid: () => asPid(5),
    listProcs: async () => [
      { pid: 5, ppid: 0, exit: null, groups: [] },
      { pid: 6, ppid: 5, exit: null, groups: [], child },
    ],
    getProcGroup: async () => {
      throw new Fault({ code: "NOT_FOUND", message: "no such group" });
    },
    send: sent,
    stat: async () => ({}),
    ended: async (pid: Pid) => {
      if (Number(pid) === 7) return { agentId: "agent-000000000007", exit: EXIT.completed };
      throw new Fault({ code: "NOT_FOUND", message: "process not found" });
    },
  };
  const values = { get: (name: string) => kept.get(name), entries: () => kept };
  const context: RunContext = {
    ...testScope("/w"),
    kept: { ...values, set: (name, value) => void kept.set(name, value) },
    sys: sys as unknown as Syscalls,
    signal: new AbortController().signal,
    ...{ pid: asPid(5), callId: CALL_ID, now: () => 0, progress: () => {} },
  };
  for (const [name, pid] of [
    ["alive", 6],
    ["ended", 7],
    ["pruned", 8],
  ] as const)
    noteChild(context.kept, { call: `c${pid}`, pid: asPid(pid), name });
  return { call: (to: string) => send.bind({ to, message: "go on" }, testScope("/w")).run(context), sent };
}

test("one that is alive gets it, one that has ended goes on with it; one without a history is NOT_FOUND, and nothing is sent", async () => {
  const { call, sent } = caller();
  for (const to of ["alive", "agent-000000000006", "6"])
    expect(await call(to)).toMatchObject({ meta: { to: [6] }, text: "Sent to pid 6." });
  for (const to of ["ended", "agent-000000000007", "7"])
    expect(await call(to)).toMatchObject({
      meta: { to: [7], status: "async_launched", output_file: FILE, can_read_output_file: true },
      text: expect.stringContaining(`What it has said so far is in ${FILE}.`),
    });
  expect(sent).toHaveBeenCalledTimes(6);
  for (const to of ["pruned", "8"])
    await expect(call(to)).rejects.toMatchObject({
      ...{
        code: "NOT_FOUND",
        hint: "start a new agent",
        message: expect.stringContaining("its history was removed"),
      },
    });
  await expect(call("agent-000000000008")).rejects.toMatchObject({
    ...{ code: "NOT_FOUND", message: expect.stringContaining("start a new one") },
  });
  for (const to of ["9", "nobody"]) await expect(call(to)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(sent).toHaveBeenCalledTimes(6);
});

test("a message may have 256 KiB; of a longer one it says what to do", () => {
  const bound = (message: string) => () => send.bind({ to: "alive", message }, testScope("/w"));
  expect(bound("é".repeat(128 * 1024))).not.toThrow();
  expect(bound(`${"é".repeat(128 * 1024)}.`)).toThrow(
    /message: over 256 KiB: write a file and send its path/,
  );
});
