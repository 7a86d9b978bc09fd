import { describe, expect, test } from "vitest";
import { DriverError } from "../../abi/errors.ts";
import type { ToolResult } from "../../abi/tool.ts";
import { FakeProcess } from "../testing/fake-process.ts";
import { callTool } from "./tool-call.ts";

async function given(result: ToolResult | Error) {
  const run = () => {
    if (result instanceof Error) throw result;
    return result;
  };
  const process = new FakeProcess({ answers: [], tools: { view: { run } } });
  const answer = await callTool(process.sys, "view", {});
  expect(process.openFds.size).toBe(0);
  return answer;
}

describe("callTool()", () => {
  const refused = { code: "PERMISSION" as const, message: "Permission denied by user: not now" };
  test.each<[string, ToolResult | Error, string, boolean]>([
    [
      "joins the parts of a result",
      {
        ok: true,
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
      false,
    ],
    ["has words for silence", { ok: true, content: [] }, "(no output)", false],
    [
      "keeps the tool's own words of failure",
      {
        ok: false,
        content: [{ type: "text", text: "Error [INVALID]: no\nhint" }],
        error: { code: "INVALID", message: "no" },
      },
      "Error [INVALID]: no\nhint",
      true,
    ],
    [
      "makes words of a bare failure",
      { ok: false, content: [], error: { code: "INVALID", message: "no", hint: "try b" } },
      "Error [INVALID]: no\ntry b",
      true,
    ],
    [
      "tells the gate's refusal",
      new DriverError({ ...refused, op: "Write" }),
      "Error [PERMISSION]: Permission denied by user: not now",
      true,
    ],
    ["tells a bug", new TypeError("x is undefined"), "Error [INTERNAL]: x is undefined", true],
    ["misses a result", undefined as never, "Error [INTERNAL]: view gave no result", true],
  ])("%s", async (_name, result, content, isError) => {
    expect(await given(result)).toEqual({ content, isError });
  });

  test("a tool that is gone is a result too", async () => {
    const process = new FakeProcess({ answers: [] });
    expect((await callTool(process.sys, "view", {})).content).toMatch(
      /^Error \[NOT_FOUND\]: tool not found: view/,
    );
  });
});
