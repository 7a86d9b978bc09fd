/** The shipped scenario against stand-ins for the tools it calls. */

import { describe, expect, it } from "vitest";
import type { Block, WireMessage } from "../../abi/llm.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { contractRequest } from "../contract.ts";
import { fold } from "../fold.ts";
import { testCaller } from "../testing/callers.ts";
import { Places, ScriptDriver } from "./script.ts";

type Call = Extract<Block, { type: "tool_use" }>;
interface Answer {
  readonly content: string;
  readonly is_error?: boolean;
}
type Tools = (name: string, input: Record<string, unknown>) => Answer;

async function survey(tools: Tools) {
  const caller = testCaller({ cwd: "/some/folder", env: { CRUX_SCRATCH: "/scratch/1" } });
  const driver = new ScriptDriver(caller, "", new Places(), new VirtualClock());
  const messages: WireMessage[] = [
    { role: "user", content: [{ type: "text", text: "Explain this project" }] },
  ];
  const calls: Call[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const { blocks } = await fold(
      driver.stream(contractRequest({ messages: [...messages] }), new AbortController().signal),
    );
    const made = blocks.filter((block) => block.type === "tool_use");
    const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    if (made.length === 0) return { text, calls, messages };
    calls.push(...made);
    messages.push({ role: "assistant", content: blocks });
    const results = made.map(({ id, name, input }): Block => {
      const answer = tools(name, input as Record<string, unknown>);
      return { type: "tool_result", tool_use_id: id, ...answer };
    });
    messages.push({ role: "user", content: results });
  }
  throw new Error("the survey does not end");
}

const folder: Tools = (name, input) => {
  if (name === "ls") return { content: "src/\n  a.ts\n  b:c.ts\nREADME.md" };
  if (name === "glob") return { content: "src/a.ts\nsrc/b:c.ts\nREADME.md" };
  if (name === "grep" && input.pattern === "^")
    return { content: "README.md:3\nsrc/a.ts:40\nsrc/b:c.ts:100" };
  if (name === "grep") return { content: "src/a.ts:2" };
  if (name === "view")
    return { content: "first line\n\nthird line\n[lines 0-2 of 100; continue with offset=3]" };
  return { content: "created" };
};
const written = (calls: readonly Call[]): { file_path: string; content: string } =>
  calls.find(({ name }) => name === "write")?.input as { file_path: string; content: string };

describe("the survey", () => {
  it("looks with the real tools, and reports what they found", async () => {
    const { text, calls } = await survey(folder);
    expect(calls.map(({ name }) => name)).toEqual(["ls", "glob", "grep", "grep", "view", "write"]);
    expect(calls[4]?.input).toMatchObject({ file_path: "src/b:c.ts" });
    const [first, ...rest] = text.split("\n");
    expect(first).toMatch(/^A script answered, not a model/);
    expect(rest.join("\n")).toContain(
      "- files: 3\n- lines: 143 (text files: 3)\n- largest: src/b:c.ts:100\n",
    );
    expect(rest.join("\n")).toContain("HACK: 2 (files: 1)");
    expect(text).toContain("The report: /scratch/1/report.md");
    const { file_path, content } = written(calls);
    expect(file_path).toBe("/scratch/1/report.md");
    expect(content).toContain("- src/b:c.ts:100\n- src/a.ts:40\n- README.md:3\n");
    expect(content).toContain("The request was: Explain this project");
    expect(content).toContain("    first line\n    \n    third line");
    expect(content).toContain("## What did not work\n\n(nothing)\n");
    expect(content).not.toContain("{{");
  });

  it("works in an empty folder", async () => {
    const { text, calls } = await survey((name) => ({
      content: name === "write" ? "created" : name === "ls" ? "" : "No matches found",
    }));
    expect(calls.map(({ name }) => name)).toEqual(["ls", "glob", "grep", "grep", "write"]);
    expect(text).toContain("- files: 0\n- lines: 0 (text files: 0)\n- largest: none\n");
  });

  it("says so where a list was cut", async () => {
    const cut: Tools = (name, input) => {
      const { content } = folder(name, input);
      return { content: name === "glob" ? `${content}\n[… 412 more; narrow the pattern]` : content };
    };
    expect((await survey(cut)).text).toContain("- files: 3 or more (the list was cut)\n");
  });

  it("reports failures of the tools, and that the report could not be written", async () => {
    const { text, calls } = await survey(() => ({
      content: "Error [PERMISSION]: denied\nhint",
      is_error: true,
    }));
    expect(text).toContain("The report was not written: Error [PERMISSION]: denied");
    expect(text).toContain("- files: 0");
    expect(written(calls).content).toContain("Error [PERMISSION]: denied");
  });

  it("begins again with the next message", async () => {
    const { messages, text } = await survey(folder);
    const caller = testCaller({ cwd: "/some/folder" });
    const driver = new ScriptDriver(caller, "", new Places(), new VirtualClock());
    const again: WireMessage[] = [
      ...messages,
      { role: "assistant", content: [{ type: "text", text }] },
      { role: "user", content: [{ type: "text", text: "Once more" }] },
    ];
    const { blocks } = await fold(
      driver.stream(contractRequest({ messages: again }), new AbortController().signal),
    );
    expect(blocks.filter(({ type }) => type === "tool_use")).toHaveLength(2);
  });
});
