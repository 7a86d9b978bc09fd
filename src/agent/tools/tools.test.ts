import { expect, test } from "vitest";
import { isToolName } from "../program/programs.ts";
import { FakeProcess } from "../testing/fake-process.ts";
import { agentInfo, says } from "../testing/replies.ts";
import { FIRST_TOOLS, offeredTools } from "./tools.ts";

const mounted = Object.fromEntries([...FIRST_TOOLS, "todo"].map((name) => [name, says("x", name === "ls")]));
const offered = async (tools: string[] | null | undefined) => {
  const agent = tools === undefined ? null : agentInfo({ tools });
  const { sys, start, logs } = new FakeProcess({ answers: [], tools: mounted, agent });
  return { ...(await offeredTools(sys, start)), logs };
};

test.each([
  ["general mode", undefined, ["bash", "edit", "glob", "grep", "ls", "view", "write"]],
  ["no list", null, ["bash", "edit", "glob", "grep", "ls", "view", "write"]],
  ["a list with other makers' names", ["Read", "todo", "view", "LS"], ["ls", "todo", "view"]],
  ["an empty list", [], []],
])("offeredTools() with %s", async (_name, named, expected) => {
  expect((await offered(named)).specs.map((spec) => spec.name)).toEqual(expected);
});

test("offeredTools() keeps which may overlap, and says what is not there only if it was named", async () => {
  const { parallel, logs } = await offered(["ls", "view", "Bash(git *)"]);
  expect([...parallel]).toEqual([
    ["ls", true],
    ["view", false],
  ]);
  expect(logs).toEqual(["tool not available: Bash(git *)"]);
  const { sys, start, logs: none } = new FakeProcess({ answers: [], tools: { view: says("x") } });
  expect((await offeredTools(sys, start)).specs).toHaveLength(1);
  expect(none).toEqual([]);
});

test("isToolName() takes one path segment and nothing else", () => {
  expect(["view", "tool_search", "mcp__a__b"].every(isToolName)).toBe(true);
  expect(["", "..", "a/b", "a b", "view\n", "../dev"].some(isToolName)).toBe(false);
});
