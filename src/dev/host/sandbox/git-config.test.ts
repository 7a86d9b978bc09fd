import { describe, expect, it } from "vitest";
import { configThatRuns, configWithout } from "./git-config.ts";

describe("configThatRuns()", () => {
  it("passes what git writes by itself", () => {
    const text = `[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote "origin"]
\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]
\tremote = origin\n\tmerge = refs/heads/main\n\trebase = true\n# note\n[user]\n\tname = A B\n\temail = a@b\n`;
    expect(configThatRuns(text)).toEqual([]);
  });

  it.each([
    "[core]\n\tfsmonitor = ./e",
    "[core] hooksPath = .",
    "[CORE]\nsshCommand=e",
    '[filter "x"]\nclean = e',
    '[diff "a]b"]\n\ttextconv = e',
    "[pager]\nlog = ./e",
    "[alias]\nst = !e",
    '[alias]\nst = "!e"',
    "[include]\npath = e",
    '[includeIf "gitdir:/"]\npath = e',
    '[remote "o"]\nurl = ext::sh -c e',
    "[protocol]\nallow = always",
    '[credential "https://h"]\nhelper = e',
    "[gpg]\nprogram = e",
    '[merge "x"]\ndriver = e',
    "[core]\n\tname = x \\\n\tfsmonitor = e",
  ])("finds %j", (text) => {
    const runs = configThatRuns(text);
    expect(runs).not.toEqual([]);
    const left = configWithout(`[a]\n\tb = c\n${text}\n[d]\n\te = f\n`, new Set(runs));
    expect(configThatRuns(left)).toEqual([]);
    expect(left).toMatch(/^\[a\]\n\tb = c\n[\s\S]*\[d\]\n\te = f\n$/);
  });
});
