import { describe, expect, it } from "vitest";
import type { CallResult } from "./conversation.ts";
import { render, renderAll } from "./template.ts";

const result = (content: string, isError = false): CallResult => ({ tool: "grep", content, isError });
const counts = "src/a:b.ts:12\nsrc/c.ts:120\n\nodd line\n[lines 0-2 of 9; continue with offset=3]\n";
const results = [result(counts), result("No matches found"), result("Error [NOT_FOUND]: gone\nhint", true)];
const variables = {
  cwd: "/desk",
  pid: 7,
  scratch: "/scratch/7",
  conversation: {
    agent: undefined,
    model: "m",
    turn: 2,
    user: "Do it\nnow",
    results,
    latest: results.slice(2),
  },
};

describe("render()", () => {
  it.each([
    ["{{cwd}}/{{pid}} {{scratch}} {{model}}", "/desk/7 /scratch/7 m"],
    ["{{user | first 1}}", "Do it"],
    ["{{result}}", "Error [NOT_FOUND]: gone\nhint"],
    ["{{result:2}}", "No matches found"],
    ["{{result:9}}", ""],
    ["{{rows:1}}", "src/a:b.ts:12\nsrc/c.ts:120\nodd line"],
    ["{{rows:1 | count}}", "3"],
    ["{{rows:1 | sum}}", "132"],
    ["{{rows:1 | top 1}}", "src/c.ts:120"],
    ["{{rows:1 | top 2 | names}}", "src/c.ts\nsrc/a:b.ts"],
    ["{{rows:1 | first 1 | list}}", "- src/a:b.ts:12"],
    ["{{rows:2 | count}} {{rows:3 | count}} {{rows:9 | sum}}", "0 0 0"],
    ["{{note:1}}", "[lines 0-2 of 9; continue with offset=3]"],
    ['{{note:1 | then " or more"}}{{note:2 | then " or more"}}', " or more"],
    ["{{error:3}} {{error:1}}{{error:last | clip 5}}", "Error [NOT_FOUND]: gone Error…"],
    ["{{errors | list}}", "- Error [NOT_FOUND]: gone"],
    ["{{rows:2 | or (none)}}", "(none)"],
    ["{{user | quote}}", "    Do it\n    now"],
  ])("makes %s", (template, text) => {
    expect(render(template, variables)).toBe(text);
  });

  it("does not look for templates in what it has put in", () => {
    const conversation = { ...variables.conversation, user: "{{cwd}} $&" };
    expect(render("{{user}}", { ...variables, conversation })).toBe("{{cwd}} $&");
  });

  it("refuses what it does not know", () => {
    expect(() => render("{{home}}", variables)).toThrow(RangeError);
    expect(() => render("{{cwd | upper}}", variables)).toThrow(RangeError);
    expect(() => render("{{cwd | constructor}}", variables)).toThrow(RangeError);
  });
});

it("renderAll() reaches strings at any depth and leaves the rest", () => {
  expect(renderAll({ a: ["{{pid}}", 1, null], b: { c: "{{cwd}}" } }, variables)).toEqual({
    a: ["7", 1, null],
    b: { c: "/desk" },
  });
});
