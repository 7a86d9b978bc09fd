import { expect, test } from "vitest";
import { asFd, asPid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { CALL_ID, testScope } from "../testing/bench.ts";
import { jobOutput } from "./job_output.ts";

const FILES = ["/var/out/agent-0123456789ab", "/proc/7/context"];

test.each([
  ["a call started", { agentId: "agent-0123456789ab" }, FILES[0]],
  ["no call started, as a supervisor does", undefined, FILES[1]],
])("job_output of a running agent that %s shows what it has said", async (_how, child, path) => {
  const words = ["", ` of ${path}`, "the last words"];
  const sys = {
    listProcs: async () => [{ pid: 7, ...(child === undefined ? {} : { child }) }],
    ended: async () => null,
    open: async (opened: string) => asFd(FILES.indexOf(opened)),
    read: async (fd: number) => new TextEncoder().encode(FILES[fd] === path ? words.pop() : ""),
    close: async () => {},
  } as unknown as Syscalls;
  const { signal } = new AbortController();
  const of = { pid: asPid(1), callId: CALL_ID, now: () => 0, progress: () => {} };
  const call = jobOutput.bind({ shell_id: "7", block: false }, testScope("/w"));
  const { text, status } = await call.run({ ...testScope("/w"), sys, signal, ...of });
  expect([text, status]).toEqual([`the last words of ${path}`, "process 7: running"]);
});

test("job_output of an agent whose worktree git never settles returns with its end", async () => {
  const { promise: end, resolve: finish } = Promise.withResolvers<"exit">();
  let hasEnded = false;
  const done = {
    agentId: "agent-0123456789ab",
    exit: EXIT.completed,
    result: "Found.",
    tokensUsed: 1,
    elapsedMs: 1,
  };
  const worktree = { path: "/w/t", branch: "worktree/a", main: "/w", gitDir: "/w/.git", base: "0" };
  const sys = {
    listProcs: async () => [{ pid: 7 }],
    ended: async (_pid: number, { isSettled = false } = {}) =>
      isSettled ? Promise.reject(new Error("it waits for git")) : hasEnded ? { ...done, worktree } : null,
    sleep: async () => end,
  } as unknown as Syscalls;
  const { signal } = new AbortController();
  const of = { pid: asPid(1), callId: CALL_ID, now: () => 0, progress: () => {} };
  const looked = jobOutput
    .bind({ shell_id: "7" }, testScope("/w"))
    .run({ ...testScope("/w"), sys, signal, ...of });
  hasEnded = true;
  finish("exit");
  expect(await looked).toMatchObject({
    text: "Found.",
    status: expect.stringMatching(/^process 7: exited \(completed\); its worktree, gone if nothing/),
  });
});
