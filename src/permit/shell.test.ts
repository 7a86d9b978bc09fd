import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { analyse } from "./shell.ts";

const argvs = (text: string) => {
  const analysis = analyse(text);
  return analysis.certain ? analysis.commands.map(({ argv }) => argv) : analysis.why;
};

test("analyse() reads words, quotes and joiners", () => {
  expect(argvs(`git commit -m 'a; b' "c d"e''f && ls | wc -l; pwd\n`)).toEqual([
    ["git", "commit", "-m", "a; b", "c def"],
    ["ls"],
    ["wc", "-l"],
    ["pwd"],
  ]);
  expect(argvs("git diff HEAD~1 a#b --x=y")).toEqual([["git", "diff", "HEAD~1", "a#b", "--x=y"]]);
  expect(argvs("a ''")).toEqual([["a", ""]]);
  expect(argvs("a &&\n b")).toEqual([["a"], ["b"]]);
});

test.each([
  ...[
    "",
    ";",
    "a ;; b",
    "a &&",
    "| a",
    "a & b",
    "a |& b",
    "A=1 b",
    "a > b",
    "a < b",
    "a $b",
    "a `b`",
    "a *",
    "a ?",
  ],
  ...[
    "a {b,c}",
    "(a)",
    "! a",
    "a # b",
    "a ~",
    "a=~ b",
    "a --x=~/y",
    "a \\b",
    "a 'b",
    '"a$b"',
    '"a!b"',
    "if a",
    "'' a",
  ],
  ...["a\u0000", "a\u200b", "a\r\nb", "a [x]", "ä"],
])("analyse() is uncertain of %j", (text) => {
  expect(analyse(text).certain).toBe(false);
});

test("analyse() of certain text gives the words that bash gives", () => {
  const piece = fc.constantFrom(
    ...[
      "a",
      "B9",
      "-x",
      "--y=z",
      "'q q'",
      '"d d"',
      "''",
      "~",
      "#",
      "=",
      ":",
      "%",
      "^",
      "@",
      "+",
      ",",
      ".",
      "/",
    ],
    ...["*", "$x", "{", "}", "!", "\\", "é", "&", ">", "(", "[", "\t"],
  );
  const word = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  const lines = fc
    .sample(fc.array(word, { minLength: 1, maxLength: 4 }), { numRuns: 600, seed: 7 })
    .map((words) => `printf '%s\\0' x ${words.join(" ")}`);
  const certain = lines.flatMap((line) => {
    // the only command of the line is the printf that shows its words
    const read = argvs(line.replace("\\0", "0"));
    return typeof read !== "string" && read.length === 1 ? [{ line, words: read[0]!.slice(2) }] : [];
  });
  expect(certain.length).toBeGreaterThan(50);
  const script = certain.map(({ line }) => `${line}; printf '\\n\\0'`).join("\n");
  const shown = execFileSync("bash", ["--noprofile", "--norc", "-c", script], { env: { HOME: "/home/u" } });
  const seen = shown.toString().split("\n\0").slice(0, -1);
  expect(seen.map((each) => each.split("\0").slice(0, -1))).toEqual(certain.map(({ words }) => words));
});
