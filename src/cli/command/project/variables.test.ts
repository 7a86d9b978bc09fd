import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeVariables, interpolate } from "../../../abi/compose/variables.ts";
import { errorLines } from "../../screen/errors.ts";
import { PLAIN } from "../../screen/text/paint.ts";
import { en } from "../../screen/words/en.ts";

const env = { HOME: "/home/ada", EMPTY: "", UNSET: undefined, RANGE: "$HOME ${HOME}" };

test.each([
  ["${HOME}/notes", "/home/ada/notes"],
  ["${EMPTY}", ""],
  ["${EMPTY:-x}", "x"],
  ["${HOME:-x}", "/home/ada"],
  ["${NONE:-HEAD~20..}", "HEAD~20.."],
  ["${NONE:-}", ""],
  ["${NONE:-a\nb}", "a\nb"],
  ["${UNSET:-x}", "x"],
  ["$$", "$"],
  ["$${HOME}", "${HOME}"],
  ["$$${HOME}", "$/home/ada"],
  ["echo $HOME costs 5$ $", "echo $HOME costs 5$ $"],
  // what a variable holds is not looked at again
  ["${RANGE}", "$HOME ${HOME}"],
])("interpolate(%s) is %s", (text, filled) => {
  expect(interpolate(text, env)).toBe(filled);
});

function refusal(value: unknown): string {
  try {
    interpolate(value, env);
  } catch (error) {
    return errorLines(error, en.faults, PLAIN);
  }
  return "none";
}

test("interpolate() names the place of what is missing", () => {
  const file = { services: { collector: { command: ["git", "log", "--oneline", "${RANGE2}"] } } };
  expect(refusal(file)).toBe(
    "✗ [INVALID] services.collector.command[3]: variable RANGE2 is not set\n" +
      "  → hint: set it, or write ${RANGE2:-default}",
  );
  expect(refusal({ a: "${UNSET}" })).toContain("a: variable UNSET is not set");
  // an object has it, the environment has not
  expect(refusal({ a: "${toString}" })).toContain("a: variable toString is not set");
});

test.each(["${", "${}", "${1}", "${A-b}", "${A:?no}", "${A:-${B}}", "${A"])(
  "interpolate() refuses %s",
  (text) => {
    expect(refusal({ a: { b: [text] } })).toMatch(/^✗ \[INVALID\] a\.b\[0\]: not a variable: \$\{/);
  },
);

test("interpolate() leaves keys, numbers and what is nested as they are", () => {
  const value = { "${HOME}": [1, true, null, { "a.b": ["${HOME}"] }] };
  expect(interpolate(value, env)).toEqual({ "${HOME}": [1, true, null, { "a.b": ["/home/ada"] }] });
});

test("escapeVariables() makes any text its own value", () => {
  const text = fc
    .array(fc.constantFrom("$", "{", "}", "HOME", ":-", "x"), { maxLength: 12 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(text, (any) => {
      expect(interpolate(escapeVariables(any), env)).toBe(any);
    }),
    { numRuns: 10_000 },
  );
});
