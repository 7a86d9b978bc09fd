import { describe, expect, test } from "vitest";
import type { ToolCall } from "../../abi/loop.ts";
import { agentInfo, call, FakeProcess, type FakeTool, says } from "../testing.ts";
import { batches, runCalls } from "./calls.ts";
import { offeredTools } from "./tools.ts";

async function run(tools: Record<string, FakeTool>, calls: ToolCall[], named?: string[]) {
  const process = new FakeProcess({
    answers: [],
    tools,
    ...(named && { agent: agentInfo({ tools: named }) }),
  });
  const results = await runCalls(process.sys, await offeredTools(process.sys, process.start), calls);
  return { process, results };
}

const failed = (content: string) => [{ content, isError: true }];

describe("runCalls()", () => {
  test("passes the arguments and takes other makers' names", async () => {
    const seen: unknown[] = [];
    const view: FakeTool = {
      run: (input) => {
        seen.push(input);
        return { ok: true, content: [{ type: "text", text: "x" }] };
      },
    };
    const { results } = await run({ view }, [call("Read", { file_path: "a" })]);
    expect(seen).toEqual([{ file_path: "a" }]);
    expect(results).toEqual([{ content: "x", isError: false }]);
  });

  test("answers a tool that is not there as the device does", async () => {
    const { process, results } = await run({ view: says("x") }, [call("vew"), call("view")]);
    expect(results.slice(0, 1)).toEqual(failed("Error [NOT_FOUND]: tool not found: vew. Similar: view"));
    // the kernel tells of the other
    expect(process.called).toEqual([{ tool: "vew", about: "", error: "tool not found" }]);
  });

  test("does not run a tool that is mounted but not offered, nor a name that is a path", async () => {
    const tools = { view: says("x"), write: says("written") };
    const calls = [call("write"), call("../dev/fs/etc/passwd"), call("")];
    const { process, results } = await run(tools, calls, ["view"]);
    expect(results.map((result) => result.content)).toEqual([
      "Error [NOT_FOUND]: tool not found: write. Tools here: view",
      "Error [NOT_FOUND]: tool not found: ../dev/fs/etc/passwd. Tools here: view",
      "Error [INVALID]: a call without the name of a tool\nTools here: view",
    ]);
    expect(process.trace.filter((name) => name.startsWith("Open"))).toEqual([]);
  });

  test("does not run a call whose arguments did not parse or are no object", async () => {
    const inputs = [{ __malformed_json: '{"a": ' }, [1], "text", null];
    const { process, results } = await run(
      { view: says("x") },
      inputs.map((input, i) => call("view", input, `${i}`)),
    );
    for (const result of results) expect(result).toMatchObject({ isError: true });
    expect(results[0]?.content).toBe(
      "Error [INVALID]: view: the arguments are not valid JSON\nSend the call again with valid JSON.",
    );
    expect(results[3]?.content).toBe("Error [INVALID]: view: the arguments must be one JSON object");
    expect(process.trace.filter((name) => name.startsWith("Open"))).toEqual([]);
  });

  test("batches() lets parallel neighbours overlap, at most ten, and others run alone", () => {
    const tools = {
      specs: [],
      parallel: new Map([
        ["ls", true],
        ["view", true],
        ["bash", false],
      ]),
    };
    const names = (text: string) =>
      batches(
        text.split(" ").map((name) => call(name)),
        tools,
      ).map((b) => b.length);
    expect(names("ls view bash bash ls nothing ls view")).toEqual([2, 1, 1, 1, 1, 2]);
    expect(names(Array(23).fill("ls").join(" "))).toEqual([10, 10, 3]);
  });

  test("overlaps what may overlap and keeps the order of calls in the results", async () => {
    const events: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const tool = (
      name: string,
      parallel: boolean,
      wait: Promise<void> | undefined,
      then = () => {},
    ): FakeTool => ({
      parallel,
      run: async () => {
        events.push(`${name} begins`);
        await wait;
        then();
        events.push(`${name} ends`);
        return { ok: true, content: [{ type: "text", text: name }] };
      },
    });
    const tools = {
      ls: tool("ls", true, gate), // ends only once view has run beside it
      view: tool("view", true, undefined, () => open()),
      bash: tool("bash", false, undefined),
    };
    const { results } = await run(tools, [call("ls"), call("view"), call("bash")]);
    expect(results.map((result) => result.content)).toEqual(["ls", "view", "bash"]);
    expect(events).toEqual(["ls begins", "view begins", "view ends", "ls ends", "bash begins", "bash ends"]);
  });
});
