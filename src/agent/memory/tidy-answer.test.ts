import { expect, test } from "vitest";
import { tidyAnswer } from "./tidy-answer.ts";

const note = (text: string, more = "description: x\ntype: feedback") => `---\n${more}\n---\n${text}\n`;
const INDEX_TEXT = "- [Tests](tests.md) — a\n- [Mocks](mocks.md) — b\n- [Hidden](hidden.md) — c\n";
const old = new Map([
  ["MEMORY.md", INDEX_TEXT],
  ["tests.md", note("No mocks.")],
  ["mocks.md", note("Mocks are bad.")],
]);
const says = (name: string, text: string) => `<note file="${name}">\n${text}</note>`;

test("tidyAnswer() takes whole notes and those that go, whose line leaves the index", () => {
  const text = `Here:\n${says("tests.md", note("No mocks: they are bad."))}\n<gone file="mocks.md"/>\n`;
  const { notes, gone } = tidyAnswer(text, old);
  expect(gone).toEqual(["mocks.md"]);
  expect([...notes]).toEqual([
    ["tests.md", note("No mocks: they are bad.")],
    ["MEMORY.md", "- [Tests](tests.md) — a\n- [Hidden](hidden.md) — c\n"],
  ]);
});

test("tidyAnswer() finds nothing where nothing changes, or nothing is said", () => {
  for (const text of ["nothing", "", says("tests.md", note("No mocks."))])
    expect(tidyAnswer(text, old)).toEqual({ notes: new Map(), gone: [] });
});

test.each([
  ["a note without front matter", says("tests.md", "No mocks.\n"), "must start with ---"],
  [
    "a note of no known type",
    says("tests.md", note("x", "description: x\ntype: gossip")),
    "type must be one of",
  ],
  ["a note without description", says("tests.md", note("x", "type: user")), "has no description"],
  ["a name that leads elsewhere", says("../up.md", note("x")), "not a name of a note"],
  ["a hidden name", says(".tidy.md", note("x")), "not a name of a note"],
  ["a note that is too large", says("tests.md", note("x".repeat(70_000))), "more than 64 KiB"],
  ["a new note without a line in the index", says("new.md", note("x")), "no line for new.md"],
  [
    "an index that forgets a note that was not shown",
    says("MEMORY.md", "- [Tests](tests.md) — a\n- [Mocks](mocks.md) — b\n"),
    "no line for hidden.md",
  ],
  ["the end of a note that was not shown", '<gone file="hidden.md"/>', "hidden.md cannot be removed"],
  ["the end of the index", '<gone file="MEMORY.md"/>', "MEMORY.md cannot be removed"],
  [
    "a note that changes and goes",
    `${says("mocks.md", note("y"))}\n<gone file="mocks.md"/>`,
    "cannot be removed",
  ],
])("tidyAnswer() refuses %s", (_what, text, why) => {
  expect(() => tidyAnswer(text, old)).toThrow(why);
});

test("tidyAnswer() reads no end of a note in the text of another", () => {
  const text = says("tests.md", note('see <gone file="x.md"/>\n<gone file="mocks.md"/>'));
  expect(tidyAnswer(text, old).gone).toEqual([]);
});
