import { beforeEach, expect, test } from "vitest";
import type { Ended } from "../../abi/child.ts";
import { asCtxId, asPid } from "../../abi/ids.ts";
import type { Memory } from "../../abi/surroundings.ts";
import type { ContextMessage, SpawnOpts, Sys } from "../../abi/sys.ts";
import { NoteTaker } from "./note-taker.ts";

const memory: Memory = { local: "/m/shop", user: "/m/user", isTaken: true, indexes: [] };
const prefix = { environment: "here", reminder: "", tools: [] };
const END: Ended = {
  agentId: "agent-000000000000",
  exit: { code: 0, reason: "completed", kind: "done" },
  result: "",
  tokensUsed: 1,
  elapsedMs: 1,
};

let messages: ContextMessage[];
let forks: { readonly intent: string; readonly opts: SpawnOpts }[];
let end: Ended | null;
let isFree: boolean;
beforeEach(() => {
  isFree = true;
  messages = [];
  forks = [];
  end = null;
});

const sys = {
  ended: async () => end,
  mayDoAside: () => isFree,
  buildPrompt: async () => ({ systemPrompt: "", messages }),
  ctxView: async () => ({
    ...{ head: 0, numbers: messages.map((_, i) => i + 1), records: messages.length, undoable: 0, pins: [] },
    view: { put: null, keep: [], clears: [], tailFrom: 1 },
  }),
  spawn: async (intent: string, _agent: unknown, opts: SpawnOpts) => {
    forks.push({ intent, opts });
    return asPid(9);
  },
} as unknown as Sys;

const take = (notes: NoteTaker) =>
  notes.take({ sys, ctxId: asCtxId(1), memory, prefix: async () => ({ prefix, tokens: 1_000 }) });
const said = (content: string): void => {
  messages.push({ role: "user", content }, { role: "assistant", content: "Yes." });
};

test("NoteTaker begins a fork with few rights once the user has said something", async () => {
  const notes = new NoteTaker();
  await take(notes);
  expect(forks).toEqual([]);
  said("we never mock");
  await take(notes);
  expect(forks).toHaveLength(1);
  expect(forks[0]?.intent).toContain("/m/shop/MEMORY.md");
  expect(forks[0]?.opts).toMatchObject({
    fork: { label: "memory", prefix },
    permissionMode: "dont_ask",
    rights: { roots: ["/m/shop"] },
    contextBudget: 60_000,
  });
});

test("NoteTaker begins no second fork before the end of the first, then one for all that was said meanwhile", async () => {
  const notes = new NoteTaker();
  said("one");
  await take(notes);
  said("two");
  said("three");
  await take(notes);
  expect(forks).toHaveLength(1);
  end = END;
  await take(notes);
  expect(notes.done).toBe(2);
  expect(forks[1]?.intent).toContain("the user's last 2 messages");
});

test("NoteTaker begins nothing while anything is limited or labelled, and looks through it all later", async () => {
  const notes = new NoteTaker();
  said("one");
  isFree = false;
  await take(notes);
  expect([forks.length, notes.done]).toEqual([0, 0]);
  isFree = true;
  said("two");
  await take(notes);
  expect(forks[0]?.intent).toContain("the user's last 2 messages");
});

test("NoteTaker repeats a fork that was ended, and not one that failed", async () => {
  for (const [kind, done] of [
    ["killed", 0],
    ["fault", 2],
  ] as const) {
    messages = [];
    const notes = new NoteTaker();
    said("one");
    await take(notes);
    end = { ...END, exit: { code: 1, reason: "", kind } };
    await take(notes);
    expect(notes.done).toBe(done);
  }
  expect(forks).toHaveLength(3);
});

test("NoteTaker leaves out what the agent has kept notes of itself, and what an earlier daemon looked through", async () => {
  said("remember: no mocks");
  const input = { file_path: "/m/user/tests.md", content: "x" };
  const call = { type: "tool_use", id: "c1", name: "write", input } as const;
  messages.push({ role: "assistant", content: "", blocks: [call] });
  messages.push({ role: "tool", content: "ok", tool_call_id: "c1" });
  const notes = new NoteTaker();
  await take(notes);
  expect([forks.length, notes.done]).toEqual([0, 4]);
  await take(new NoteTaker(4));
  expect(forks).toEqual([]);
});
