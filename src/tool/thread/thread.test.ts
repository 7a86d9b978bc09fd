import { expect, test } from "vitest";
import { SyscallError } from "../../abi/errors.ts";
import { asCallId, asPid, asTid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { testScope } from "../testing/bench.ts";
import type { Outcome } from "../tool.ts";
import { thread } from "./thread.ts";

type Threads = Pick<Syscalls, "spawnThread" | "joinThread" | "cancelThread" | "listThreads" | "sleep">;

const never = (_: unknown, signal?: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

function call(args: object, sys: Partial<Threads>): Promise<Outcome> {
  const scope = testScope("/w");
  const { signal } = new AbortController();
  const more = { signal, pid: asPid(1), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
  return thread.bind(args, scope).run({ ...scope, ...more, sys: { sleep: never, ...sys } as Syscalls });
}

test("spawn gives the tid, join the result, and leaves no wait behind", async () => {
  const asked: unknown[] = [];
  const spawnThread: Threads["spawnThread"] = async (...given) => {
    asked.push(given);
    return asTid(3);
  };
  expect((await call({ op: "spawn", intent: "dig", max_turns: 4 }, { spawnThread })).meta).toEqual({
    threads: [{ tid: 3, state: "running" }],
  });
  expect(asked).toEqual([["dig", { maxTurns: 4 }]]);
  let waits: AbortSignal | undefined;
  const sleep: Threads["sleep"] = (ms, signal) => {
    waits = signal;
    return never(ms, signal);
  };
  const ended = await call({ op: "join", tid: 3 }, { sleep, joinThread: async () => ({ result: "gold" }) });
  expect([ended.text, ended.error, waits?.aborted]).toEqual(["gold", undefined, true]);
});

test("join of one that failed is a failure with its words; of one that still runs it ends with the time", async () => {
  const err = new SyscallError({ syscall: "Read", pid: asPid(1), code: "DRIVER", message: "no disk" });
  const failed = await call({ op: "join", tid: 1 }, { joinThread: async () => ({ result: "half", err }) });
  expect(failed).toMatchObject({ text: "thread 1 failed: no disk\nhalf", error: { code: "DRIVER" } });
  const late = await call(
    { op: "join", tid: 1, timeout: 5 },
    { joinThread: never, sleep: async () => "timer" },
  );
  expect(late.text).toBe("Thread 1 is still running.");
});

test("list and cancel; what an op needs is said", async () => {
  const row = { tid: asTid(1), intent: "dig", state: "zombie" } as const;
  expect((await call({ op: "list" }, { listThreads: async () => [row] })).text).toBe(
    "1 has ended, join it: dig",
  );
  expect((await call({ op: "cancel", tid: 1 }, { cancelThread: async () => {} })).text).toBe(
    "Thread 1 was told to end.",
  );
  await expect(call({ op: "join" }, {})).rejects.toMatchObject({ code: "INVALID" });
  await expect(call({ op: "spawn" }, {})).rejects.toMatchObject({ code: "INVALID" });
});
