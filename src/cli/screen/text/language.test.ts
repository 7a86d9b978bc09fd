import { expect, test } from "vitest";
import { wordsOf } from "./language.ts";

const NAMES = ["CRUX_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];

test.each(Array.from({ length: 16 }, (_, bits) => bits))(
  "wordsOf() takes the first that is set (%i)",
  (bits) => {
    const isSet = NAMES.map((_, at) => (bits & (1 << at)) !== 0);
    const first = isSet.indexOf(true);
    const chinese = Object.fromEntries(
      NAMES.map((name, at) => [name, isSet[at] ? (at === first ? "zh_CN.UTF-8" : "en_US") : ""]),
    );
    const english = Object.fromEntries(
      NAMES.flatMap((name, at) => (isSet[at] ? [[name, at === first ? "en_US" : "zh_CN"]] : [])),
    );
    expect(wordsOf(chinese).hint).toBe(first < 0 ? "  → hint: " : "  → 建议: ");
    expect(wordsOf(english).hint).toBe("  → hint: ");
  },
);

test("wordsOf() reads zh in any case, and only at the beginning", () => {
  expect(wordsOf({ LANG: "ZH" }).slowCall).toBe("← 慢操作");
  expect(wordsOf({ LANG: "zH-hant" }).modelCall).toBe("← LLM 调用");
  expect(wordsOf({ LANG: "C.zh" }).modelCall).toBe("← LLM call");
});
