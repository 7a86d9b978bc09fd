import { expect, test } from "vitest";
import { en } from "../screen/words/en.ts";
import { hearAnswers } from "./question-dialog.ts";

const [up, down, enter, esc] = ["\x1b[A", "\x1b[B", "\r", "\x1b"];

async function answered(isMulti: boolean, ...keys: string[]) {
  let shown = "";
  const options = ["Red", "Green", "Blue"].map((label) => ({ label, description: "" }));
  const questions = [{ header: "Colour", question: "Which?", options, multi_select: isMulti }];
  const reply = await hearAnswers(1, questions, {
    words: en.ask,
    isClosed: false,
    write: async (text) => {
      shown += text;
    },
    keys: async () => keys.shift(),
    line: async (_, initial) => `${initial}${keys.shift() ?? ""}`,
  });
  return { answers: reply?.answers?.[0] ?? reply?.answer, shown };
}

test.each([
  [false, ["2"], ["Green"]],
  [false, [down, down, enter], ["Green"]],
  [false, [up, enter], ["Blue"]],
  [false, ["\x1bOB", " "], ["Red"]],
  [false, [enter, "\x1b[D", "3\r"], ["Blue"]],
  [true, ["1", "3", enter], ["Red", "Blue"]],
  [true, ["1", ",", "3", "1", enter], ["Blue"]],
  [true, ["1,3", enter], ["Red", "Blue"]],
  [true, ["1 3\r"], ["Red", "Blue"]],
  [true, [down, " ", down, " ", enter], ["Red", "Green"]],
  [true, [down, down, " ", " ", enter], ["Green"]],
  [true, [down, enter], ["Red"]],
] as const)("hearAnswers(): several %s, the keys %j choose %j", async (isMulti, keys, chosen) => {
  expect((await answered(isMulti, ...keys)).answers).toEqual({ chosen, text: "" });
});

test("hearAnswers() takes words, and Esc dismisses all", async () => {
  expect((await answered(false, down, "9 of them", "!\r")).answers).toMatchObject({ text: "9 of them!" });
  expect((await answered(true, "4,1", "")).answers).toMatchObject({ chosen: [], text: "4,1" });
  expect((await answered(true, "1", esc)).answers).toBe("no");
});

test("hearAnswers() shows on one line where the arrows are", async () => {
  const { shown } = await answered(false, down, down, enter);
  expect(shown.endsWith(": \n  ▸ 1. Red \r\x1b[K  ▸ 2. Green \n")).toBe(true);
});

test("hearAnswers() says on the same line what is marked, and the arrows stay where they are", async () => {
  const { shown } = await answered(true, down, " ", down, " ", "3", enter);
  const lines = [
    "1. Red",
    "1. Red · Red",
    "2. Green · Red",
    "2. Green · Red, Green",
    "2. Green · Red, Green, Blue",
  ];
  expect(shown.replaceAll("\r\x1b[K", "\n").split("\n").slice(-6)).toEqual([
    ...lines.map((line) => `  ▸ ${line} `),
    "",
  ]);
});

test("hearAnswers() breaks a long question between words", async () => {
  let shown = "";
  const question = { header: "Colour", question: "Which colour should the button have?" };
  await hearAnswers(1, [{ ...question, options: [], multi_select: false }], {
    ...{ words: en.ask, isClosed: false, columns: 40 },
    write: async (text) => {
      shown += text;
    },
    keys: async () => undefined,
    line: async () => undefined,
  });
  expect(shown).toContain("[agent/1] Colour: Which colour should\n  the button have?\n");
});

test("hearAnswers() waits before the first key of each question, and says how each was answered", async () => {
  const options = ["Red", "Green"].map((label) => ({ label, description: "" }));
  const question = { header: "Colour", question: "Which?", options, multi_select: false };
  const keys = ["1", "2"];
  const seen: string[] = [];
  await hearAnswers(1, [question, { ...question, question: "And then?" }], {
    words: en.ask,
    isClosed: false,
    write: async () => {},
    keys: async () => {
      seen.push("key");
      return keys.shift();
    },
    line: async () => undefined,
    settled: async () => void seen.push("settled"),
    answered: (asked, answer) => seen.push(`${asked} ${answer}`),
  });
  expect(seen).toEqual(["settled", "key", "Colour: Which? Red", "settled", "key", "Colour: And then? Green"]);
});
