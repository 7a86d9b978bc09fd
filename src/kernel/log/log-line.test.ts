import { expect, test } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import { logLine } from "./log-line.ts";

const pid = asPid(1);
const ask = { ask_id: "a", text: "bash: npm test", options: [] };
const details = { agent: "", model: "", maxSteps: 0, budget: 0, device: "" };

test.each<[ProcessEvent, string | undefined]>([
  [{ event: "step", pid, step: 2, total: 10 }, "info reasoning step 2..."],
  [
    { event: "tool", pid, device: "/dev/shell", inBytes: 12, outBytes: 345, durationMs: 1_250 },
    "info tool /dev/shell 12B → 345B 1.3s",
  ],
  [{ event: "log", pid, entry: { timestampMs: 1, level: "warn", message: "slow" } }, "warn slow"],
  [{ event: "ask", pid, ...ask }, "warn asks: bash: npm test"],
  [{ event: "error", pid, message: "broke", error: new Error("broke") }, "error error: broke"],
  [{ event: "ask_closed", pid, ask_id: "a", answer: "yes" }, undefined],
  [{ event: "spawn", pid, intent: "x", details }, undefined],
  [{ event: "complete", pid, result: "", exit: EXIT.completed, tokensUsed: 0, elapsedMs: 0 }, undefined],
])("logLine(%j)", (event, expected) => {
  const line = logLine(event);
  expect(line === undefined ? undefined : `${line.level} ${line.message}`).toBe(expected);
});
