import { expect, test } from "vitest";
import { asCallId, asCoId, asPid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { testScope } from "../testing/bench.ts";
import type { Outcome } from "../tool.ts";
import { coroutine } from "./coroutine.ts";

type Coroutines = Pick<Syscalls, "spawnCoroutine" | "resumeCoroutine" | "cancelCoroutine">;

function call(args: object, sys: object): Promise<Outcome> {
  const scope = testScope("/w");
  const { signal } = new AbortController();
  const more = { signal, pid: asPid(1), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
  return coroutine.bind(args, scope).run({ ...scope, ...more, sys: sys as Syscalls });
}

test("spawn gives the id, resume the answer, cancel ends it", async () => {
  const asked: unknown[] = [];
  const spawnCoroutine: Coroutines["spawnCoroutine"] = async (body) => {
    asked.push(body);
    return asCoId(3);
  };
  const spawned = await call({ op: "spawn", intent: "judge", max_turns: 2 }, { spawnCoroutine });
  expect([spawned.meta, asked]).toEqual([{ id: 3, state: "new" }, [{ intent: "judge", maxTurns: 2 }]]);
  const resumeCoroutine = async (id: number, value: string) => ({ done: false, value: `${id}: ${value}!` });
  const answer = await call({ op: "resume", id: 3, value: "so" }, { resumeCoroutine });
  expect([answer.text, answer.meta]).toEqual(["3: so!", { id: 3, state: "waiting" }]);
  const cancelled: number[] = [];
  const cancelCoroutine = async (id: number) => void cancelled.push(id);
  await call({ op: "cancel", id: 3 }, { cancelCoroutine });
  expect(cancelled).toEqual([3]);
});

test.each([{ op: "spawn" }, { op: "resume", value: "x" }, { op: "resume", id: 1 }, { op: "cancel" }])(
  "%j lacks something",
  async (args) => {
    await expect(call(args, {})).rejects.toMatchObject({ code: "INVALID" });
  },
);
