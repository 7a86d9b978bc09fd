import { expect, test } from "vitest";
import { wordOf } from "./words.ts";

test.each([
  ["", undefined],
  ["   ", undefined],
  ["hello ", { kind: "say", text: "hello" }],
  ["/exit", { kind: "exit" }],
  ["/title the new one", { kind: "title", title: "the new one" }],
  ["/mode", { kind: "mode", mode: undefined }],
  ["/mode acceptEdits", { kind: "mode", mode: "accept_edits" }],
  ["/plan", { kind: "mode", mode: "plan" }],
  ["/model", { kind: "model", name: "" }],
  ["/model openai/large", { kind: "model", name: "openai/large" }],
  ["/btw which file was it?", { kind: "btw", question: "which file was it?" }],
  ["!ls -a | wc", { kind: "shell", command: "ls -a | wc" }],
  ["/cost", { kind: "run", argv: ["cost"], ofSession: false }],
  ["/cost 7 --by model", { kind: "run", argv: ["cost", "7", "--by", "model"], ofSession: false }],
  ["/todo", { kind: "run", argv: ["tasks"], ofSession: true }],
  ["/todo crew", { kind: "run", argv: ["tasks", "crew"], ofSession: false }],
  ["/context", { kind: "context" }],
  ["/compact", { kind: "compact", text: "" }],
  ["/compact keep the paths", { kind: "compact", text: "keep the paths" }],
  ["//exit", { kind: "say", text: "//exit" }],
  ["/exti", { kind: "skill", name: "exti", text: "/exti" }],
  [
    "/team:release-notes for v2",
    { kind: "skill", name: "team:release-notes", text: "/team:release-notes for v2" },
  ],
  ["/usr/bin/env fails", { kind: "say", text: "/usr/bin/env fails" }],
])("wordOf(%j)", (line, word) => {
  expect(wordOf(line)).toEqual(word);
});

test.each(["/stop it", "/title", "/btw", "/mode fast", "!"])("wordOf(%j) is no message", (line) => {
  expect(wordOf(line)?.kind).toBe("unknown");
});
