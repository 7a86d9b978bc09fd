import { describe, expect, test } from "vitest";
import type { ToolCall } from "../../abi/loop.ts";
import { FakeProcess, type FakeTool } from "../testing/fake-process.ts";
import { agentInfo, call, says } from "../testing/replies.ts";
import { batchSizes } from "./calls.ts";
import { Executor } from "./executor.ts";
import { runCalls } from "./testing.ts";
import { offeredTools } from "./tools.ts";

async function run(given: Record<string, FakeTool>, calls: ToolCall[], named?: string[]) {
  const process = new FakeProcess({
    answers: [],
    tools: given,
    ...(named && { agent: agentInfo({ tools: named }) }),
  });
  const results = await runCalls(process.sys, await offeredTools(process.sys, process.start), calls);
  return { process, results };
}

const failed = (content: string) => [{ content, isError: true }];

describe("Executor", () => {
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

  test("batchSizes() lets parallel neighbours overlap, and others run alone", () => {
    const tools = {
      specs: [],
      parallel: new Map([
        ["ls", true],
        ["view", true],
        ["bash", false],
      ]),
    };
    const names = (text: string) =>
      batchSizes(
        text.split(" ").map((name) => call(name)),
        tools,
      );
    expect(names("ls view bash bash ls nothing ls view")).toEqual([2, 1, 1, 1, 1, 2]);
    expect(names(Array(23).fill("ls").join(" "))).toEqual([23]);
  });

  test.each([
    [undefined, 10],
    [3, 3],
  ])("runs at most as many at once as it is told (%s)", async (most, expected) => {
    let [running, highest] = [0, 0];
    const ls: FakeTool = {
      parallel: true,
      run: async () => {
        highest = Math.max(highest, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return { ok: true, content: [] };
      },
    };
    const process = new FakeProcess({ answers: [], tools: { ls } });
    const tools = await offeredTools(process.sys, process.start);
    const executor = new Executor({ sys: process.sys, tools, most });
    for (let n = 0; n < 23; n++) executor.submit(call("ls", { n }, `${n}`));
    expect(await executor.results()).toHaveLength(23);
    expect(highest).toBe(expected);
  });

  test("calls that give agents the same name run one after another, in their order; others beside each other", async () => {
    const [begun, gates] = [[] as string[], [] as (() => void)[]];
    const agent: FakeTool = {
      parallel: true,
      run: async (input) => {
        begun.push((input as { prompt: string }).prompt);
        await new Promise<void>((resolve) => gates.push(resolve));
        return { ok: true, content: [] };
      },
    };
    const process = new FakeProcess({
      answers: [],
      tools: { agent },
      agent: agentInfo({ tools: ["agent"] }),
    });
    const executor = new Executor({
      sys: process.sys,
      tools: await offeredTools(process.sys, process.start),
    });
    const inputs = [
      { prompt: "a", name: "ada" },
      { prompt: "b", name: "bea" },
      { prompt: "c" },
      { prompt: "d", name: "ada" },
    ];
    for (const [n, input] of inputs.entries()) executor.submit(call("agent", input, `${n}`));
    const turns = async () => {
      for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
    };
    await turns();
    expect(begun).toEqual(["a", "b", "c"]);
    for (const open of gates.slice(1)) open();
    await turns();
    expect(begun).toEqual(["a", "b", "c"]);
    gates[0]?.();
    await turns();
    expect(begun).toEqual(["a", "b", "c", "d"]);
    gates.at(-1)?.();
    expect(await executor.results()).toHaveLength(4);
  });

  test("a call that was dismissed has a result, and did not run", async () => {
    const ran: unknown[] = [];
    const bash: FakeTool = {
      run: (input) => {
        ran.push(input);
        return { ok: true, content: [{ type: "text", text: "x" }] };
      },
    };
    const process = new FakeProcess({ answers: [], tools: { bash } });
    const executor = new Executor({
      sys: process.sys,
      tools: await offeredTools(process.sys, process.start),
      begins: () => executor.dismiss(),
    });
    for (const n of [1, 2]) executor.submit(call("bash", { n }, `${n}`));
    const contents = (await executor.results()).map(({ content }) => content);
    expect(contents).toEqual(["x", "cancelled before it started"]);
    expect(ran).toEqual([{ n: 1 }]);
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
