import { expect, test } from "vitest";
import { expandVariables } from "./variables.ts";

const env = { HOME: "/home/ada", EMPTY: "", A_1: "x" };

test.each([
  ["plain $ text, 5$ and ${", "plain $ text, 5$ and ${", []],
  ["$HOME/a and ${HOME}b", "/home/ada/a and /home/adab", []],
  ["$A_1-${A_1}", "x-x", []],
  ["[$EMPTY]", "[]", []],
  ["${EMPTY:-there} ${HOME:-no}", "there /home/ada", []],
  ["${NONE:-}|${NONE:-a b}", "|a b", []],
  ["$NONE/${ALSO_NONE}", "/", ["NONE", "ALSO_NONE"]],
  ["$$HOME $${HOME:-x} 5$$", "$HOME ${HOME:-x} 5$", []],
  ["$$$HOME $$$$HOME", "$/home/ada $$HOME", []],
  ["$constructor $__proto__", " ", ["constructor", "__proto__"]],
])("expandVariables(%j)", (text, expected, missing) => {
  expect(expandVariables(text, env)).toEqual({ text: expected, missing });
});

test("expandVariables() does not look into values again", () => {
  expect(expandVariables("$A", { A: "$B", B: "b" }).text).toBe("$B");
});
