import { expect, test } from "vitest";
import { argumentsFile, editText } from "./ask-editor.ts";

test("an editor is given a file whose name says what the text is, and what it leaves there is taken", () => {
  const editor = `printf '%s %s' "\${1##*/}" "$(cat "$1")" > "$1"; :`;
  expect(editText(editor, "fix it", "message.md")).toBe("message.md fix it");
});

test("a plan is edited as its Markdown, anything else as its arguments", () => {
  const plan = argumentsFile(JSON.stringify({ plan: "# Plan\n\n1. go" }));
  expect([plan.name, plan.text]).toEqual(["plan.md", "# Plan\n\n1. go\n"]);
  expect(plan.back(plan.text)).toBe(JSON.stringify({ plan: "# Plan\n\n1. go" }));
  expect(plan.back("# Other\n")).toBe(JSON.stringify({ plan: "# Other" }));
  expect(plan.back(" \n")).toBeUndefined();
  const call = argumentsFile('{"command":"ls","timeout":5}');
  expect([call.name, call.text]).toEqual(["arguments.json", '{\n  "command": "ls",\n  "timeout": 5\n}\n']);
  expect(call.back("{}")).toBe("{}");
});
