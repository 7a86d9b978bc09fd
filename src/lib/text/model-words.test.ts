import { expect, test } from "vitest";
import { retryWords, switchWords } from "./model-words.ts";

test.each([
  [{ errorKind: "overloaded", status: 529 }, "model: overloaded (529), retry 2/10 in 1.5s"],
  [{ errorKind: "timeout" }, "model: no answer in time, retry 2/10 in 1.5s"],
  [{ errorKind: "stream_malformed", message: "half" }, "model: broken reply (half), retry 2/10 in 1.5s"],
  [{ errorKind: "unheard" }, "model: unheard, retry 2/10 in 1.5s"],
  [
    { errorKind: "invalid", status: 400, delayMs: 0 },
    "model: request refused (400), sent again without what was refused",
  ],
  [
    { errorKind: "auth", status: 401, delayMs: 0 },
    "model: credential refused (401), sent again with a new one",
  ],
])("retryWords() of %j", (facts, words) => {
  expect(retryWords({ attempt: 2, maxRetries: 10, delayMs: 1_500, ...facts })).toBe(words);
});

test("switchWords() names both models and the cause; a model without a name by its driver", () => {
  const [from, to] = [
    { device: "/dev/llm/script/a/b.json", model: "" },
    { device: "/dev/llm/openai", model: "m" },
  ];
  expect(switchWords({ from, to, cause: "overloaded" })).toBe(
    "model: script/a/b.json overloaded; m answers for the rest of the run",
  );
});
