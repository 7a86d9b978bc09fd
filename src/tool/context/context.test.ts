import { expect, test } from "vitest";
import { asCallId, asCtxId, asPid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { testScope } from "../testing/bench.ts";
import type { Outcome } from "../tool.ts";
import { context } from "./context.ts";

const calls: unknown[] = [];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const sys = {
  ctxAlloc: async (size: number) => {
    calls.push(["alloc", size]);
    return asCtxId(4);
  },
  ctxWrite: async (cid: number, offset: number, data: Uint8Array) =>
    void calls.push(["write", cid, offset, JSON.parse(decoder.decode(data))]),
  ctxRead: async (cid: number, offset: number, length: number) => {
    calls.push(["read", cid, offset, length]);
    const messages = [
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ];
    return encoder.encode(JSON.stringify({ system_prompt: "", messages }));
  },
  ctxFree: async (cid: number) => void calls.push(["free", cid]),
} as unknown as Syscalls;

async function call(args: object): Promise<Outcome> {
  calls.length = 0;
  const scope = testScope("/w");
  const { signal } = new AbortController();
  const more = { signal, pid: asPid(1), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
  return context.bind(args, scope).run({ ...scope, ...more, sys });
}

test.each([
  [{ op: "alloc", size: 8 }, ["alloc", 8], "Context 4 holds 8 notes."],
  [{ op: "write", cid: 4, note: "x" }, ["write", 4, 0, { role: "user", content: "x" }], "Added."],
  [
    { op: "write", cid: 4, at: 2, note: "x" },
    ["write", 4, 2, { role: "user", content: "x" }],
    "Note 2 was replaced.",
  ],
  [{ op: "read", cid: 4 }, ["read", 4, 0, 0], "1. one\n2. two"],
  [{ op: "read", cid: 4, at: 3, count: 2 }, ["read", 4, 2, 2], "3. one\n4. two"],
  [{ op: "free", cid: 4 }, ["free", 4], "Context 4 is gone."],
])("%j", async (args, expected, text) => {
  expect([(await call(args)).text, calls]).toEqual([text, [expected]]);
});

test.each([{ op: "write", note: "x" }, { op: "write", cid: 4 }, { op: "read" }, { op: "alloc", size: 65 }])(
  "%j lacks something, or is too much",
  async (args) => {
    await expect(call(args)).rejects.toMatchObject({ code: "INVALID" });
    expect(calls).toEqual([]);
  },
);
