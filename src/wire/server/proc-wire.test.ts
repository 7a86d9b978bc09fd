import { expect, test } from "vitest";
import { WireProc, WireRow } from "../../abi/methods/process.ts";
import type { ProcInfo } from "../../abi/process.ts";
import { toWireProc, toWireRow } from "./proc-wire.ts";

const shown = (change: Partial<ProcInfo>) =>
  toWireProc({
    ...{ skills: [], groups: [], exit: null, allowedDevices: null, createdAt: new Date(0), elapsedMs: 0 },
    ...{ tokensUsed: 10, microUsdUsed: 5, model: "", ...change },
  } as unknown as ProcInfo).subtree;

test("toWireProc() says what was used below a process where that is more than its own", () => {
  expect(shown({})).toBeUndefined();
  expect(shown({ subtree: { tokens: 10, microUsd: 5 } })).toBeUndefined();
  expect(shown({ subtree: { tokens: 30, microUsd: 2_000_000 } })).toEqual({ tokens_used: 30, cost_usd: 2 });
});

const FULL = {
  ...{
    pid: 7,
    ppid: 1,
    state: "running",
    intent: "i".repeat(200),
    skills: ["s"],
    tokensUsed: 10,
    elapsedMs: 1.5,
  },
  ...{
    kind: "agent",
    activity: "paused",
    tool: "bash",
    held: "signal",
    slot: { lane: "m", waitedMs: 4, place: 2 },
    queue: { place: 1, of: 2 },
  },
  child: { call: "c", title: "look", name: "scout", team: "red", isBackground: true, agentId: "a7" },
  ...{ createdAt: new Date(0), ctxId: 9, allowedDevices: ["/dev/fs"], groups: [4], result: "r".repeat(200) },
  exit: { code: 1, reason: "wrong", kind: "fault", err: new Error("not for the wire") },
  ...{
    fork: "f",
    color: "red",
    labels: ["untrusted"],
    note: "n",
    worktree: { path: "/w", branch: "b" },
    mode: "plan",
  },
  ...{ microUsdUsed: 5, subtree: { tokens: 30, microUsd: 2_000_000 }, unpricedCalls: 1, model: "m" },
  ...{ name: "tester", threads: 1, coroutines: 2, comingTokens: 6, isSession: true },
} as unknown as ProcInfo;
const HEAD = "pid ppid state intent skills tokens_used elapsed_ms kind activity";
const WAITS = "tool held slot queue agent_id call background called title team";
const REST = "created_at ctx_id allowed_devices groups result exit";
const FACTS = "fork color labels note worktree mode cost_usd subtree unpriced_calls";

test("toWireProc() and toWireRow() have every field that is known, in the order of the list, and no other", () => {
  const [proc, row] = [toWireProc(FULL), toWireRow(FULL)];
  expect(Object.keys(proc).join(" ")).toBe([HEAD, WAITS, REST, FACTS, "model"].join(" "));
  const more = "name model threads coroutines coming_tokens session";
  expect(Object.keys(row).join(" ")).toBe([HEAD, WAITS, REST, FACTS, more].join(" "));
  expect([WireProc.parse(proc), WireRow.parse(row)]).toEqual([proc, row]);
  expect([proc.intent.length, row.intent.length, row.result.length]).toEqual([200, 161, 161]);
  expect(row).toMatchObject({
    exit: { code: 1, reason: "wrong", kind: "fault" },
    called: "scout",
    session: true,
  });
});

test("what only some processes have is absent where there is none of it", () => {
  const none = {
    tool: undefined,
    held: undefined,
    slot: undefined,
    queue: undefined,
    child: undefined,
    fork: undefined,
  };
  const facts = {
    color: undefined,
    labels: undefined,
    note: undefined,
    worktree: undefined,
    mode: undefined,
  };
  const used = {
    microUsdUsed: undefined,
    subtree: undefined,
    unpricedCalls: undefined,
    comingTokens: undefined,
  };
  const bare = {
    ...FULL,
    ...none,
    ...facts,
    ...used,
    model: "",
    isSession: undefined,
  } as unknown as ProcInfo;
  expect(Object.keys(toWireProc(bare)).join(" ")).toBe(`${HEAD} ${REST}`);
  expect(Object.keys(toWireRow(bare)).join(" ")).toBe(`${HEAD} ${REST} name model threads coroutines`);
});
