import { expect, it } from "vitest";
import { parseFrontMatter } from "./front-matter.ts";

const read = (settings: string) => parseFrontMatter("a.md", `---\n${settings}\n---\nGo.`);

it.each([
  ["Reviews: code"],
  ["@team reviews"],
  ["[Reviewer] looks"],
  ['"Reviews" the code'],
  ['When X.\n\n  <example>\n  user: "y"\n  </example>'],
  ['When X. So:\n\n<example>\nContext: z\nuser: "y: z"\ntool-use: w\n</example>'],
])("parseFrontMatter() reads a description without quotes up to the next key: %j", (description) => {
  const { fields, notes, body } = read(`description: ${description}\n\nmodel: opus\nmaxTurns: 3`);
  expect([fields.text("description"), fields.text("model"), fields.int("max_turns"), body]).toEqual([
    description,
    "opus",
    3,
    "Go.",
  ]);
  expect(notes).toEqual(["a.md:2: description is not valid YAML without quotes; it is read as plain text"]);
  expect(fields.at("max_turns")).toBe(`a.md:${4 + description.split("\n").length}`);
});

it("parseFrontMatter() leaves what is YAML as it is, and ends a text of one line at the next key, known or not", () => {
  const { fields, notes } = read(
    "description: |\n  a: b\n  - c\nargument-hint: [x] or: y\nauthor: me\nhooks: {a: b}",
  );
  expect([fields.text("description"), fields.text("argument_hint"), fields.text("author")]).toEqual([
    "a: b\n- c",
    "[x] or: y",
    "me",
  ]);
  expect(notes).toHaveLength(1);
  expect(() => read("description: a: b\nhooks: {")).toThrow(/^a\.md:\d+:\d+: /);
});
