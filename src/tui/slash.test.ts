import { expect, test } from "vitest";
import { en } from "../cli/screen/words/en.ts";
import { offersFor, slashOf } from "./slash.ts";

test("a line after ! is the shell's, and none without a command", () => {
  expect(slashOf("! ls -l ", 1, en)).toEqual({ kind: "shell", command: "ls -l" });
  expect(slashOf("!", 1, en)).toMatchObject({ kind: "refused" });
});

test.each([
  ["   ", undefined],
  ["hello ", { kind: "say", text: "hello" }],
  ["//exit", { kind: "say", text: "//exit" }],
  ["/usr/bin/env fails", { kind: "say", text: "/usr/bin/env fails" }],
  ["/exit", { kind: "do", name: "exit", text: "" }],
  ["/title the new one", { kind: "do", name: "rename", text: "the new one" }],
  ["/mode acceptEdits", { kind: "mode", mode: "accept_edits", text: "" }],
  ["/plan the move", { kind: "mode", mode: "plan", text: "the move" }],
  ["/top", { kind: "view", name: "top", text: "" }],
  ["/rewind", { kind: "view", name: "rewind", text: "" }],
  ["/context", { kind: "run", argv: ["context", "7"] }],
  ["/memory", { kind: "run", argv: ["memory"] }],
  ["/memory off", { kind: "run", argv: ["memory", "off", "7"] }],
  ["/todo", { kind: "run", argv: ["tasks", "7"] }],
  ["/todo crew", { kind: "run", argv: ["tasks", "crew"] }],
  ["/model", { kind: "run", argv: ["model"] }],
  ["/model set a/b", { kind: "run", argv: ["model", "set", "a/b"] }],
  ["/model a/b", { kind: "run", argv: ["model", "7", "a/b"] }],
  ["/budget 2.5", { kind: "run", argv: ["budget", "set", "7", "--usd", "2.5"] }],
  ["/budget --add 5", { kind: "run", argv: ["budget", "7", "--add", "5"] }],
  ["/bg", { kind: "run", argv: ["bg", "7"] }],
  ["/bg 9", { kind: "run", argv: ["bg", "9"] }],
  ["/send 3 go on", { kind: "run", argv: ["send", "3", "go", "on"] }],
  ["/pin keep this", { kind: "run", argv: ["context", "pin", "7", "keep", "this"] }],
  ["/force-snip 3", { kind: "run", argv: ["context", "snip", "7", "3"] }],
  ["/fork", { kind: "run", argv: ["fork", "7"] }],
  ["/fork try another way", { kind: "run", argv: ["fork", "7", "-m", "try another way"] }],
  ["/fork --at 3", { kind: "run", argv: ["fork", "7", "--at", "3"] }],
  ["/rewind 3", { kind: "run", argv: ["rewind", "7", "--at", "3"] }],
  ["/rewind --at 3 --files", { kind: "run", argv: ["rewind", "7", "--at", "3", "--files"] }],
  ["/add-dir ../a b", { kind: "do", name: "add-dir", text: "../a b" }],
  ["/permissions", { kind: "do", name: "permissions", text: "" }],
  ["/permissions rm g_1", { kind: "run", argv: ["grants", "rm", "g_1"] }],
  ["/login", { kind: "run", argv: ["auth", "login"] }],
  ["/export", { kind: "run", argv: ["export", "7", "-o", "conversation-7.md"] }],
  ["/export --force", { kind: "run", argv: ["export", "7", "-o", "conversation-7.md", "--force"] }],
  [
    "/export talk.json --format json",
    { kind: "run", argv: ["export", "7", "-o", "talk.json", "--format", "json"] },
  ],
  ["/export -o -", { kind: "run", argv: ["export", "7", "-o", "-"] }],
  ["/team:notes v2", { kind: "skill", text: "/team:notes v2" }],
])("slashOf(%j)", (line, slash) => {
  expect(slashOf(line, 7, en)).toEqual(slash);
});

test.each(["/mode fast", "/pause", "/send"])("slashOf(%j) sends nothing", (line) => {
  expect(slashOf(line, 7, en)?.kind).toBe("refused");
});

test("offersFor() names commands and skills that begin as the line does, until an argument is typed", () => {
  const skills = [{ name: "compare", about: "two files" }];
  expect(offersFor("/com", skills, en).map(({ name }) => name)).toEqual(["compact", "compare"]);
  expect(offersFor("/compact k", skills, en)).toEqual([]);
  expect(offersFor("a /com", skills, en)).toEqual([]);
});
