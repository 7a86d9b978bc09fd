import { expect, test } from "vitest";
import type { RuleSet } from "../rules/rule-set.ts";
import { analyseArgv } from "../shell/analysis.ts";
import type { Case } from "./case.ts";
import { findRepository, judgePart } from "./part.ts";

const among = (...paths: string[]) => {
  const there = new Set(paths);
  return (path: string) => there.has(path);
};

test("findRepository() goes up to the nearest one", () => {
  const exists = among("/a/.git", "/a/b/c/.git");
  expect(findRepository("/a/b/c/d", exists)).toEqual({ root: "/a/b/c", isBare: false });
  expect(findRepository("/a/b", exists)).toEqual({ root: "/a", isBare: false });
  expect(findRepository("/x/y", exists)).toBeNull();
  for (const path of ["", ".", "x/y"]) expect(findRepository(path, exists)).toBeNull();
});

test("findRepository() takes a folder with a HEAD for a bare one, but the .git of a repository", () => {
  expect(findRepository("/a/b/sub", among("/a/.git", "/a/b/HEAD"))).toEqual({ root: "/a/b", isBare: true });
  expect(findRepository("/a/.git", among("/a/.git", "/a/.git/HEAD"))).toEqual({
    root: "/a/.git",
    isBare: false,
  });
});

test("judgePart() asks the rules once for all judgements of one text, and again when the rules are others", () => {
  let asked = 0;
  const rulesOf = (): RuleSet => ({
    get deny() {
      asked++;
      return [];
    },
    ask: [],
    allow: [],
    brokenPolicy: undefined,
    warnings: [],
  });
  const caseOf = (rules: RuleSet, mode: "default" | "plan") =>
    ({ rules, allow: [], subject: { mode }, roots: [] }) as unknown as Case;
  const [part] = analyseArgv(["frobnicate"], "/w", "/h").parts;
  if (part === undefined) throw new Error("no part");
  const whole = { text: "frobnicate", cwd: "/w" };
  const rules = rulesOf();
  expect(judgePart(caseOf(rules, "default"), part, whole).verdict.behavior).toBe("ask");
  expect(judgePart(caseOf(rules, "plan"), part, whole).verdict.behavior).toBe("ask");
  expect(asked).toBe(1);
  judgePart(caseOf(rulesOf(), "default"), part, whole);
  expect(asked).toBe(2);
});
