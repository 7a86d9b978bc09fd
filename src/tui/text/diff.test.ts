import { expect, test } from "vitest";
import { en } from "../../cli/screen/words/en.ts";
import { diffLines } from "./diff.ts";

const NOTHING = {
  pid: 7,
  step: 0,
  seq: 1,
  refused: false,
  files: [],
  conflicts: [],
  commands: [],
  command_count: 0,
  fork: null,
};

test("/diff names each file that tools have changed, as it was changed, and what commands did", () => {
  const file = (name: string, deed: "removed" | "restored" | "recreated" | "unchanged" | "kept") => ({
    ...{ path: `/w/${name}`, deed, reason: "", insertions: 1, deletions: 3 },
  });
  const files = [
    { ...file("made.txt", "removed"), insertions: 0 },
    file("a\x1b[2J", "restored"),
    { ...file("gone", "recreated"), deletions: 0 },
    file("same", "unchanged"),
    file("theirs", "kept"),
  ];
  expect(diffLines({ ...NOTHING, files, commands: ["make\x1b[2J"], command_count: 3 }, "/w", en)).toEqual([
    "new      made.txt +3",
    "changed  a\\x1b[2J +3 -1",
    "deleted  gone -1",
    "changed  theirs +3 -1",
    "not listed: what commands changed (make\\x1b[2J; and 2 more)",
  ]);
  const again = { ...NOTHING, commands: ["make", "make"], command_count: 2 };
  expect(diffLines(again, "/w", en).at(-1)).toBe("not listed: what commands changed (make)");
  expect(diffLines(NOTHING, "/w", en)).toEqual(["no file was changed by tools"]);
});
