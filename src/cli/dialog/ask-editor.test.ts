import { expect, test } from "vitest";
import { editText } from "./ask-editor.ts";

test("an editor is given a file whose name says what the text is, and what it leaves there is taken", () => {
  const editor = `printf '%s %s' "\${1##*/}" "$(cat "$1")" > "$1"; :`;
  expect(editText(editor, "fix it", "message.md")).toBe("message.md fix it");
});
