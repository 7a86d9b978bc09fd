import { expect, test } from "vitest";
import { asCallId, asPid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { testScope } from "../testing/bench.ts";
import type { Outcome } from "../tool.ts";
import { signals } from "./signals.ts";

async function call(args: object): Promise<{ outcome: Outcome; calls: readonly unknown[] }> {
  const calls: unknown[] = [];
  const noted =
    (name: string) =>
    async (...given: unknown[]) =>
      void calls.push([name, ...given]);
  const sys = {
    sigBlock: noted("block"),
    sigUnblock: noted("unblock"),
    sigHandle: noted("handle"),
  } as unknown as Syscalls;
  const scope = testScope("/w");
  const { signal } = new AbortController();
  const more = { signal, pid: asPid(7), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
  const outcome = await signals.bind(args, scope).run({ ...scope, ...more, sys });
  return { outcome, calls };
}

test.each([
  [{ op: "block", signal: "SIGINT", duration_ms: 5_000 }, [["block", 7, 3, 5_000]], "blocked"],
  [{ op: "message", signal: "SIGTERM" }, [["handle", 1, "message", 30_000]], "message"],
  [{ op: "ignore", signal: "SIGINT" }, [["handle", 3, "ignore", 30_000]], "ignored"],
  [{ op: "unblock", signal: "SIGINT" }, [["unblock", 7, 3]], "default"],
  [
    { op: "default", signal: "SIGTERM" },
    [
      ["handle", 1, "default"],
      ["unblock", 7, 1],
    ],
    "default",
  ],
])("%j", async (args, expected, taken) => {
  const { outcome, calls } = await call(args);
  expect(calls).toEqual(expected);
  expect(outcome.meta).toEqual({ signal: args.signal, taken });
});

test.each(["SIGKILL", "SIGPAUSE", "SIGRESUME"])("%s is not taken", async (signal) => {
  await expect(call({ op: "block", signal })).rejects.toMatchObject({ code: "INVALID" });
});

test("no longer time is taken", async () => {
  await expect(call({ op: "block", signal: "SIGINT", duration_ms: 120_001 })).rejects.toMatchObject({
    code: "INVALID",
  });
});

test("declares a change of the process, and nothing outside it", () => {
  const { effects, readOnly } = signals.bind({ op: "ignore", signal: "SIGINT" }, testScope("/w"));
  expect([effects, readOnly]).toEqual([[{ kind: "state", path: "/proc/self/signals" }], true]);
});
