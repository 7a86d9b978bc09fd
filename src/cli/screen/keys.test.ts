import { expect, test } from "vitest";
import { type Key, parseKeys } from "./keys.ts";

const shown = (keys: readonly Key[]) => keys.map((key) => (key.kind === "text" ? key.text : `<${key.name}>`));

test.each([
  ["q", ["q"]],
  ["\x1b[A\x1b[B", ["<up>", "<down>"]],
  ["\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[4~", ["<up>", "<page_up>", "<page_down>", "<home>", "<end>"]],
  ["\x1b", ["<escape>"]],
  ["\x03\x0c\x1a", ["<ctrl_c>", "<ctrl_l>", "<ctrl_z>"]],
  ["a\r\x7f", ["a", "<enter>", "<backspace>"]],
  ["分😀é", ["分", "😀", "é"]],
  ["\x1b[1;5C\x1b[200~x", ["x"]],
  ["\x00\x01\t", []],
  ["", []],
])("parseKeys(%j) is %j", (sent, keys) => {
  expect(shown(parseKeys(sent))).toEqual(keys);
});
