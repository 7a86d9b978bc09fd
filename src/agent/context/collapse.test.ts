/** Which steps are folded, what their summary may be, and what the view is afterwards. */
import { describe, expect, test } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { Collapse, foldRequest } from "./collapse.ts";
import { unitsOf } from "./units.ts";

const step = (id: number, chars = 8_000): ContextMessage[] => [
  {
    role: "assistant",
    content: "",
    blocks: [{ type: "tool_use", id: `${id}`, name: "view", input: { file_path: `/w/${id}.ts` } }],
  },
  { role: "tool", content: `result ${id} `.padEnd(chars, "x"), tool_call_id: `${id}` },
];
/** 1 the intent, 2 to 7 three steps, 8 words, 9 to 48 twenty steps of about 2,000 tokens each. */
const MESSAGES: readonly ContextMessage[] = [
  { role: "user", content: "intent" },
  ...[1, 2, 3].flatMap((id) => step(id)),
  { role: "user", content: "rule" },
  ...Array.from({ length: 20 }, (_, i) => step(i + 4)).flat(),
];
const state = (more: Partial<ViewState> = {}): ViewState => ({
  ...{ head: 0, records: MESSAGES.length, undoable: 0, pins: [] },
  view: { put: null, keep: [], clears: [], tailFrom: 1 },
  numbers: MESSAGES.map((_, i) => i + 1),
  ...more,
});
const units = unitsOf(MESSAGES, state());
const full = { fill: () => 0.7, scale: 1 };
const numbersOf = (found: ReturnType<Collapse["next"]>) =>
  found?.flatMap(({ parts }) => parts.map(({ n }) => n));
const words = (tokens: number) => "word".repeat(tokens);

describe("Collapse.next()", () => {
  test("finds the oldest four steps or more of 8,000 tokens; the user's words stand between folds", () => {
    expect(numbersOf(new Collapse().next(units, state(), full))).toEqual([9, 10, 11, 12, 13, 14, 15, 16]);
    expect(numbersOf(new Collapse().next(units, state(), { ...full, scale: 1.1 }))?.length).toBe(10);
  });

  test("finds nothing while the window has room, counted without what is staged", () => {
    expect(new Collapse().next(units, state(), { ...full, fill: () => 0.59 })).toBeUndefined();
    const collapse = new Collapse();
    const first = collapse.next(units, state(), full) ?? [];
    expect(collapse.stage(first, words(500))).toBeUndefined();
    const filling = { ...full, fill: (saved: number) => (saved > 8_000 ? 0.59 : 0.7) };
    expect(collapse.next(units, state(), filling)).toBeUndefined();
  });

  test("leaves out what is pinned, what is staged, and the newest twelve steps", () => {
    const pinned = new Collapse().next(units, state({ pins: [12] }), full);
    expect(numbersOf(pinned)?.slice(0, 2)).toEqual([13, 14]);
    const collapse = new Collapse();
    collapse.stage(collapse.next(units, state(), full) ?? [], words(500));
    const second = collapse.next(units, state(), full);
    expect(numbersOf(second)).toEqual([17, 18, 19, 20, 21, 22, 23, 24]);
    collapse.stage(second ?? [], words(500));
    expect(collapse.next(units, state(), full)).toBeUndefined();
  });
});

describe("a staged fold", () => {
  const staged = () => {
    const collapse = new Collapse();
    collapse.stage(collapse.next(units, state(), full) ?? [], `${words(500)} /w/4.ts`);
    return collapse;
  };

  test("takes the place of its steps, and names the files of its calls; a later daemon has it", () => {
    const { state: kept } = staged();
    const collapse = new Collapse(JSON.parse(JSON.stringify(kept)));
    const found = collapse.take(units, state());
    expect(found).toMatchObject({ behind: 8, keep: [[1, 8]], tailFrom: 17, clears: [], folds: [] });
    expect(found?.put).toContain("It dealt with: /w/5.ts, /w/6.ts, /w/7.ts");
    expect(found?.freed).toBeGreaterThan(7_000);
    expect(collapse.take(units, state())).toBeUndefined();
    expect(collapse.stats).toMatchObject({ active: true, staged: 0, committed: 1, failures: 0 });
  });

  test("is let go when its steps have left the view, or one of them was pinned meanwhile", () => {
    const later = units.slice(20);
    expect(staged().take(later, state())).toBeUndefined();
    expect(staged().take(units, state({ pins: [10] }))).toBeUndefined();
  });

  test("has at most a tenth of the tokens; after three failures in a row nothing is folded", () => {
    const collapse = new Collapse();
    const steps = collapse.next(units, state(), full) ?? [];
    expect(collapse.stage(steps, words(1_100))).toContain("1100 tokens");
    expect(collapse.stage(steps, " ")).toBe("it is empty");
    collapse.failed();
    expect([collapse.isHealthy, collapse.next(units, state(), full)]).toEqual([false, undefined]);
  });
});

test("foldRequest() shows calls and results, each cut, in a request of its own", () => {
  const { messages, tools, purpose, maxOutputTokens } = foldRequest(units.slice(1, 3), {
    id: "r1-1-fold",
    model: "small",
  });
  const text = JSON.stringify(messages);
  expect(text).toContain("call of view");
  expect(text).toContain("result 2 x");
  expect(text.length).toBeLessThan(14_000);
  expect([tools, purpose]).toEqual([[], "helper"]);
  expect(maxOutputTokens).toBeLessThan(1_000);
});
