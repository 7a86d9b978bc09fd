import { expect, test } from "vitest";
import type { IdleEvent } from "../../abi/wire-events.ts";
import { PromptQueue } from "./prompt-queue.ts";

const idle: IdleEvent = {
  event: "idle",
  pid: 1,
  seq: 1,
  outcome: "completed",
  result: "",
  exit_code: 0,
  tokens_used: 0,
  elapsed_ms: 0,
  queued: 0,
};
const run = { event: idle, told: { stopReason: undefined, error: undefined } };

test("a run answers what it has read, also where its end is known before the number of the prompt", async () => {
  const queue = new PromptQueue();
  const [first, second, third] = [queue.add("1"), queue.add("2"), queue.add("3")];
  queue.said(first, 1);
  queue.read(1);
  queue.read(2);
  queue.over(run);
  queue.said(second, 2);
  queue.said(third, 3);
  expect(await Promise.all([first.ended, second.ended])).toEqual([
    { kind: "run", ...run },
    { kind: "run", ...run },
  ]);
  expect(queue.open).toEqual([third]);
  queue.withdrawn(3);
  expect(await third.ended).toEqual({ kind: "cancelled" });
});

test("a cancelled prompt is answered so, however its run ended", async () => {
  const queue = new PromptQueue();
  const prompt = queue.add("1");
  queue.said(prompt, 1);
  queue.read(1);
  prompt.isCancelled = true;
  queue.over(run);
  expect(await prompt.ended).toEqual({ kind: "cancelled" });
});

test("a run answers the prompt that began it, though nobody saw that it was read", async () => {
  const queue = new PromptQueue();
  const [first, other] = [queue.add("1"), queue.add("2")];
  queue.said(first, 1);
  queue.said(other, 2);
  queue.over(run);
  expect(await first.ended).toEqual({ kind: "run", ...run });
  expect(queue.open).toEqual([other]);
});
