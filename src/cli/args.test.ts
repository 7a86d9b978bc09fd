import { expect, test } from "vitest";
import {
  countFlag,
  findFirstWord,
  findGlobalFlags,
  modeOf,
  onePid,
  pairsFlag,
  parseFlags,
  RUN_FLAGS,
  textFlag,
} from "./args.ts";

const parsed = (...argv: string[]) => parseFlags(argv, RUN_FLAGS);

test("findFirstWord() is not fooled by flags with values", () => {
  expect(findFirstWord(["-q", "--model", "ps", "kill", "1"])).toEqual({ word: "kill", at: 3 });
  expect(findFirstWord(["--model=ps", "-v", "ps"])).toEqual({ word: "ps", at: 2 });
  expect(findFirstWord(["--json"])).toBeUndefined();
  expect(findFirstWord(["-q", "--", "ps"])).toBeUndefined();
});

test.each([
  ["", "default"],
  ["-v", "verbose"],
  ["-q", "quiet"],
  ["-q -v", "quiet"],
  ["--json", "json"],
  ["--json -v", "json"],
  ["-q --json", "json"],
  ["-vq --json", "json"],
])("modeOf(%s) is %s", (flags, mode) => {
  expect(modeOf(findGlobalFlags(flags.split(" ").filter(Boolean)))).toBe(mode);
});

test("parseFlags() keeps words and flags in any order, and all after -- as words", () => {
  const args = parsed("fix", "-m", "opus", "the", "--max-steps=3", "test", "--", "--not", "-a", "flag");
  expect(args.words).toEqual(["fix", "the", "test", "--not", "-a", "flag"]);
  expect(textFlag(args, "model")).toBe("opus");
  expect(countFlag(args, "max-steps")).toBe(3);
  expect(countFlag(args, "budget")).toBe(0);
});

test.each([
  [["--bogus"], "unknown flag: --bogus"],
  [["-x"], "unknown flag: -x"],
  [["-qx"], "unknown flag: -x"],
  [["--constructor"], "unknown flag: --constructor"],
  [["--model"], "--model needs a value"],
  [["-m", "--json"], "-m needs a value"],
  [["--json=yes"], "--json takes no value"],
])("parseFlags(%j) is INVALID", (argv, message) => {
  expect(() => parsed(...argv)).toThrow(expect.objectContaining({ code: "INVALID", message }));
});

test.each(["1.5", "-1", "x", "", "1e3"])("countFlag() refuses %j", (text) => {
  expect(() => countFlag(parsed(`--budget=${text}`), "budget")).toThrow(/^--budget needs a whole number/);
});

test.each([["1", "2"], ["x"], ["1x"], ["+1"], ["0x1"], []])("onePid() refuses %j", (...words) => {
  expect(() => onePid(parsed(...words.filter((word) => word !== undefined)), "usage")).toThrow(
    expect.objectContaining({ code: "INVALID", hint: "usage" }),
  );
});

test("parseFlags() keeps every value of a flag, and knows which words stood behind --", () => {
  const args = parsed("a", "-m", "x", "--model=y", "--", "b", "--model", "z");
  expect(args.values.get("model")).toEqual(["x", "y"]);
  expect([args.words, args.behind]).toEqual([
    ["a", "b", "--model", "z"],
    ["b", "--model", "z"],
  ]);
  expect(parsed("a").behind).toBeUndefined();
  expect(parsed("a", "--").behind).toEqual([]);
});

test("pairsFlag() splits at the first =, and takes what has none from the environment it is given", () => {
  const args = parsed("-m", "A=1=2", "-m", "B=", "-m", "C", "-m", "__proto__=x");
  expect(Object.entries(pairsFlag(args, "model", { C: "c" }))).toEqual([
    ["A", "1=2"],
    ["B", ""],
    ["C", "c"],
    ["__proto__", "x"],
  ]);
  expect(() => pairsFlag(args, "model")).toThrow(/^--model needs NAME=VALUE, not "C"/);
});
