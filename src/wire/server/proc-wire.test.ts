import { expect, test } from "vitest";
import type { ProcInfo } from "../../abi/process.ts";
import { toWireProc } from "./proc-wire.ts";

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
