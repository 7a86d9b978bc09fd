import { describe, expect, test } from "vitest";
import { DriverError, MALFORMED_CALL, SyscallError } from "../abi/errors.ts";
import { asPid } from "../abi/ids.ts";
import { LlmError } from "../abi/llm-error.ts";
import { refusalDetails } from "../abi/refusal.ts";
import type { Surroundings } from "../abi/surroundings.ts";
import { callsOf } from "./model/blocks.ts";
import {
  type Answer,
  type FakeOptions,
  FakeProcess,
  type FakeTool,
  MODEL_DEVICE,
  restoredFrom,
} from "./testing/fake-process.ts";
import { agentInfo, call, reply, says } from "./testing/replies.ts";

const tools = { view: says("content"), ls: says("a\nb", true), bash: says("") };

const refusing: FakeTool = {
  run: () => {
    const refused = { tool: "bash", what: "rm -r b", reason: "why", remedy: { rules: ["bash(rm -r b)"] } };
    throw new SyscallError({
      syscall: "Write",
      pid: asPid(7),
      code: "PERMISSION",
      message: "no rule allows it",
      details: refusalDetails(refused, true),
    });
  },
};

async function run(options: FakeOptions) {
  const process = new FakeProcess(options);
  return { process, exit: await process.run() };
}

const used = (tokens: number) => ({
  usage: {
    input_tokens: tokens,
    output_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  },
});

describe("agentProgram()", () => {
  test("asks, runs the calls, keeps all in the context, and completes", async () => {
    const turn = reply([{ type: "text", text: "looking" }, call("view", { file_path: "a" }), call("ls")]);
    const { process, exit } = await run({ answers: [turn, reply("done")], tools, systemPrompt: "You help." });
    expect(exit).toEqual({ code: 0, reason: "completed", kind: "done" });
    expect(process.result).toBe("done");
    expect(process.steps).toEqual([1, 2]);
    expect(process.messages).toEqual([
      { role: "user", content: "do it" },
      { role: "assistant", content: "looking", blocks: turn.blocks },
      { role: "tool", content: "content", tool_call_id: "id-view" },
      { role: "tool", content: "a\nb", tool_call_id: "id-ls" },
      { role: "assistant", content: "done", blocks: [{ type: "text", text: "done" }] },
    ]);
    expect(process.activities).toEqual(["thinking", "tool", "thinking"]);
    expect(process.openFds.size).toBe(0);
  });

  test("sends a request that is whole and constant in its beginning", async () => {
    const { process } = await run({
      answers: [reply([call("ls")]), reply("done")],
      tools,
      systemPrompt: "You help.",
    });
    const [first, second] = process.requests;
    expect(first).toEqual({
      requestId: "r1-1",
      purpose: "main",
      model: "",
      system: [
        { text: "You help.", zone: "static" },
        {
          text: "Working directory: /home/ada/project\nDate: 2026-11-21\nPlatform: linux",
          zone: "dynamic",
        },
      ],
      tools: ["bash", "ls", "view"].map((name) => ({
        name,
        description: `${name}.`,
        inputSchema: { type: "object" },
      })),
      messages: [{ role: "user", content: [{ type: "text", text: "do it" }] }],
      maxOutputTokens: 8_000,
      stream: false,
    });
    expect(JSON.stringify([second?.system, second?.tools])).toBe(
      JSON.stringify([first?.system, first?.tools]),
    );
    expect(second?.messages).toHaveLength(3);
  });

  test("tells the surroundings before the conversation, alike in each request, and not as a part of it", async () => {
    const surroundings: Surroundings = {
      confinement: null,
      scratch: "/scratch/1",
      git: "Git when you started: branch main",
      instructions: [{ path: "/w/AGENTS.md", scope: "project", text: "Be kind.</instructions>" }],
      notices: ["/w/x: left out"],
    };
    const { process } = await run({ answers: [reply([call("ls")]), reply("done")], tools, surroundings });
    const [first, second] = process.requests;
    expect(first?.system[0]?.text).toContain("Git when you started: branch main");
    const [told, asked] = first?.messages[0]?.content ?? [];
    expect(told).toMatchObject({
      type: "text",
      text: expect.stringMatching(/^<system-reminder>\n.*<\/system-reminder>$/s),
    });
    expect(JSON.stringify(told)).toContain("Be kind.&lt;/instructions>\\n</instructions>");
    expect(asked).toEqual({ type: "text", text: "do it" });
    expect(JSON.stringify(second?.messages[0])).toBe(JSON.stringify(first?.messages[0]));
    expect(process.messages[0]).toEqual({ role: "user", content: "do it" });
    expect(process.logs).toEqual(["/w/x: left out", "instructions: /w/AGENTS.md"]);
  });

  test("general mode has no instructions", async () => {
    const { process } = await run({ answers: [reply("done")] });
    expect(process.requests[0]?.system.map((part) => part.zone)).toEqual(["dynamic"]);
  });

  test("a short reply is one Write and one Read; a tool call Open, Write, Read, Close", async () => {
    const { process } = await run({ answers: [reply([call("view")]), reply("done")], tools });
    expect(process.trace.filter((name) => / [34]( |$)/.test(name) || name.startsWith("Open"))).toEqual([
      "Write 3",
      "Read 3 65536",
      "Open /bin/view 2",
      "Write 4",
      "Read 4 1048576",
      "Close 4",
      "Write 3",
      "Read 3 65536",
    ]);
  });

  test("reads on where a reply is longer than one read", async () => {
    const long = "é".repeat(100_000);
    const { process } = await run({ answers: [reply(long)] });
    expect(process.result).toBe(long);
  });

  test("ends at the step limit with the results of the last step and the text so far", async () => {
    const turn = (n: number) => reply([{ type: "text", text: `part ${n}` }, call("view", {}, `${n}`)]);
    const { process, exit } = await run({ answers: [turn(1), turn(2)], tools, maxSteps: 2 });
    expect(exit).toEqual({ code: 1, reason: "max steps exceeded", kind: "done" });
    expect(process.result).toBe("part 2");
    expect(process.messages.at(-1)).toEqual({ role: "tool", content: "content", tool_call_id: "2" });
  });

  test("ends after the reply that passes the budget, and runs none of its calls", async () => {
    const turn = (n: number) => reply([call("view", {}, `${n}`)], used(3_000));
    const { process, exit } = await run({ answers: [turn(1), turn(2), turn(3)], tools, budget: 8_192 });
    expect(exit).toEqual({ code: 2, reason: "budget_exceeded", kind: "done" });
    expect(process.logs).toEqual(["Token budget exceeded: 9000/8192"]);
    expect(process.trace.filter((name) => name.startsWith("Open"))).toHaveLength(2);
    expect(process.messages.at(-1)?.content).toBe("cancelled before it started");
    const asked = process.requests.map((request) => request.maxOutputTokens);
    expect(asked[0]).toBeLessThan(8_192);
    expect(asked[2]).toBeLessThan(8_192 - 6_000);
  });

  test("ends as over budget when the gate refuses the call", async () => {
    const refusal = new DriverError({ code: "BUDGET", op: "Write", message: "account spent" });
    const { process, exit } = await run({
      answers: [reply([call("ls")], used(90)), refusal],
      tools,
      budget: 100,
    });
    expect(exit.reason).toBe("budget_exceeded");
    expect(process.logs).toEqual(["Token budget exceeded: 90/100"]);
  });

  test("an empty reply is asked for once more, in silence, then ends the run", async () => {
    const again = await run({ answers: [reply([]), reply("done")] });
    expect(again.exit.code).toBe(0);
    expect(again.process).toMatchObject({ result: "done", steps: [1], logs: [] });
    const twice = await run({ answers: [reply([]), reply([])] });
    expect(twice.exit).toMatchObject({
      code: 1,
      kind: "fault",
      reason: "the model answered twice in a row without a word and without a call",
    });
    expect(twice.process.messages).toHaveLength(1);
  });

  test("an empty reply is asked for again in each step, not once in a run", async () => {
    const answers = [reply([]), reply([call("ls")]), reply([]), reply("done")];
    const { process, exit } = await run({ answers, tools });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("done");
  });

  test("a reply that was cut off is asked for again with more room, once", async () => {
    const cut = reply("so far", { stopReason: "max_tokens" });
    const better = await run({ answers: [cut, reply("whole")] });
    expect(better.process.requests.map((request) => request.maxOutputTokens)).toEqual([8_000, 64_000]);
    expect(better.process).toMatchObject({ result: "whole", steps: [1] });
  });

  test("the longest reply that the user wants is asked for, and no longer one after a reply that was cut off", async () => {
    const window = { window: 200_000, maxOutput: 64_000, auto: true, compact: true, output: 20_000 };
    const cut = reply("so far", { stopReason: "max_tokens" });
    const { process } = await run({ answers: [cut, reply("whole")], window });
    expect(process.requests.map((request) => request.maxOutputTokens)).toEqual([20_000, 20_000]);
    expect(process.result).toContain("whole");
  });

  test("refused calls are answers: a reply of three is read by the model, and the run goes on", async () => {
    const three = reply([call("bash", {}, "1"), call("bash", {}, "2"), call("bash", {}, "3")]);
    const { process, exit } = await run({
      answers: [three, reply([call("view")]), reply("done another way")],
      tools: { ...tools, bash: refusing },
    });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("done another way");
    expect(process.messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      ...Array.from({ length: 3 }, () => "Error [PERMISSION]: no rule allows it"),
      "content",
    ]);
  });

  test("ends after three replies in a row of nothing but refused calls, and says which", async () => {
    const answers = [1, 2, 3, 4].map((n) => reply([call("bash", {}, `${n}`), call("bash", {}, `${n}b`)]));
    const { process, exit } = await run({ answers, tools: { ...tools, bash: refusing } });
    expect(exit).toMatchObject({
      code: 1,
      kind: "done",
      reason: expect.stringMatching(/^every call of 3 replies in a row was refused.*: bash: rm -r b$/),
      err: { code: "PERMISSION", fact: { kind: "needs_approval", remedy: { rules: ["bash(rm -r b)"] } } },
    });
    expect(process.requests).toHaveLength(3);
    expect(process.messages.filter(({ role }) => role === "tool")).toHaveLength(6);
  });

  test("counts on after a restart, from the place that was kept", async () => {
    const answers = [1, 2, 3].map((n) => reply([call("bash", {}, `${n}`)]));
    const first = await run({ answers, tools: { ...tools, bash: refusing }, maxSteps: 2 });
    const { process, exit } = await run({
      answers: answers.slice(2),
      tools: { ...tools, bash: refusing },
      ...restoredFrom(first.process.history.slice(0, -1)),
    });
    expect(exit).toMatchObject({ reason: expect.stringContaining("every call of 3 replies") });
    expect(process.requests).toHaveLength(1);
  });

  test("a refusal is a fault, with the words kept", async () => {
    const { process, exit } = await run({ answers: [reply("I may not.", { stopReason: "refusal" })] });
    expect(exit).toMatchObject({ code: 1, kind: "fault", reason: "the model refused to answer: I may not." });
    expect(process.result).toBe("I may not.");
  });

  test("a model failure is a fault that keeps its code and device, never text of the assistant", async () => {
    const failed = new LlmError({ kind: "auth", message: "ANTHROPIC_API_KEY was refused", status: 401 });
    const { process, exit } = await run({ answers: [failed] });
    expect(exit).toMatchObject({ code: 1, kind: "fault", reason: "ANTHROPIC_API_KEY was refused" });
    expect(exit.err).toMatchObject({ code: "PERMISSION", device: MODEL_DEVICE, op: "Write", cause: failed });
    expect(process.messages).toHaveLength(1);
    expect(process.result).toBe("");
  });

  test("retries with waits that are logged, then goes on", async () => {
    const busy = new LlmError({ kind: "overloaded", message: "busy", status: 529 });
    const limited = new LlmError({
      kind: "rate_limit",
      message: "slow down",
      status: 429,
      retryAfterMs: 7_000,
    });
    const { process, exit } = await run({ answers: [busy, busy, limited, reply("done")] });
    expect(exit.code).toBe(0);
    expect(process.sleeps).toEqual([500, 1_000, 7_000]);
    expect(process.logs).toEqual([
      "model: overloaded (529), retry 1/10 in 0.5s",
      "model: overloaded (529), retry 2/10 in 1.0s",
      "model: rate limited (429), retry 3/10 in 7.0s",
    ]);
  });

  test("gives up after the retries it may make", async () => {
    const answers: Answer[] = Array.from(
      { length: 3 },
      () => new LlmError({ kind: "server", message: "broken" }),
    );
    const { process, exit } = await run({ answers, program: { maxRetries: 2 } });
    expect(exit).toMatchObject({ code: 1, reason: "broken" });
    expect(process.sleeps).toEqual([500, 1_000]);
  });

  test("a server that is not there is given up after three tries, one that was there is not", async () => {
    const gone = () =>
      new LlmError({ kind: "connection", message: "connection refused: http://127.0.0.1:9" });
    const never = await run({ answers: [gone(), gone(), gone()] });
    expect(never.exit).toMatchObject({ code: 1, reason: "connection refused: http://127.0.0.1:9" });
    expect(never.process.sleeps).toEqual([500, 1_000]);
    const answers = [reply([call("ls")]), gone(), gone(), gone(), gone(), reply("done")];
    expect((await run({ answers, tools })).exit.code).toBe(0);
  });

  test("a broken reply is asked for again, three times where it is broken in the same way", async () => {
    const broken = (message: string) => new LlmError({ kind: "stream_malformed", message });
    const [one, other] = [broken("an event is not JSON"), broken("no message_stop")];
    const { exit } = await run({ answers: [one, one, one, other, one, other, reply("done")] });
    expect(exit.code).toBe(0);
    const { process, exit: end } = await run({ answers: [other, one, one, one, one, reply("never")] });
    expect(end).toMatchObject({
      code: 1,
      kind: "fault",
      reason: "the model's reply was malformed 4 times in a row: an event is not JSON",
    });
    expect(process.requests).toHaveLength(5);
    expect(process.logs.at(-1)).toContain("(an event is not JSON), retry 3/3");
  });

  test.each([
    ["arguments that are not JSON", (n: number) => call("bash", { __malformed_json: `{"${n}` }, `${n}`)],
    ["arguments that are no object", (n: number) => call("bash", { __malformed_json: `[${n}]` }, `${n}`)],
    ["no name", (n: number) => call("", {}, `${n}`)],
    ["what the tool does not take", (n: number) => call("ls", { n }, `${n}`)],
  ])("calls malformed in the same way, by %s, end the run after three more replies", async (_, wrong) => {
    const answers = [1, 2, 3, 4, 5].map((n) => reply([wrong(n)]));
    const ls: FakeTool = {
      run: () => {
        const message = "ls: unknown key";
        throw new DriverError({ op: "Write", code: "INVALID", message, details: MALFORMED_CALL });
      },
    };
    const { process, exit } = await run({ answers, tools: { ...tools, ls } });
    expect(exit).toMatchObject({
      code: 1,
      kind: "fault",
      reason: expect.stringMatching(
        /^the model's reply was malformed 4 times in a row: (bash|ls|a call without the name)/,
      ),
    });
    expect(process.requests).toHaveLength(4);
    expect(process.logs).toHaveLength(3);
    expect(process.logs[2]).toMatch(/^model: malformed call \((bash|ls|a call).*\), asked again 3\/3$/);
    expect(process.messages.at(-1)?.content).toMatch(/^Error \[INVALID\]: (bash|ls|a call)/);
    const mended = [...answers.slice(0, 3), reply([call("view")]), answers[3]!, reply("done")];
    expect((await run({ answers: mended, tools: { ...tools, ls } })).exit.code).toBe(0);
  });

  test("a bug is thrown on", async () => {
    await expect(new FakeProcess({ answers: [new TypeError("bug")] }).run()).rejects.toThrow("bug");
  });

  test("ends at once when the process ends while it waits to retry", async () => {
    const process: FakeProcess = new FakeProcess({
      answers: [
        () => {
          process.end();
          return new LlmError({ kind: "server", message: "broken" });
        },
      ],
    });
    expect((await process.run()).kind).toBe("killed");
    expect(process.sleeps).toEqual([]);
    expect(process.logs).toEqual([]);
  });

  test("offers the tools of the agent file, and says which are not there", async () => {
    const agent = agentInfo({ tools: ["view", "nothing"] });
    const { process } = await run({ answers: [reply("done")], tools, agent });
    expect(process.requests[0]?.tools.map((tool) => tool.name)).toEqual(["view"]);
    expect(process.logs).toEqual(["tool not available: nothing"]);
  });
});

describe("agentProgram() when the process ends", () => {
  const script = {
    answers: [
      reply([{ type: "text", text: "one" }, call("ls", {}, "1"), call("ls", {}, "2"), call("bash", {}, "3")]),
      reply([call("view", {}, "4")]),
      reply("done"),
    ],
    tools,
  };

  test("stops at any system call with every call in the context answered once, in order", async () => {
    const whole = await run(script);
    expect(whole.exit.code).toBe(0);
    const points = Array.from({ length: whole.process.calls }, (_, i) => i + 1);
    for (const abortAtCall of points) {
      for (const revokeOnAbort of [false, true]) {
        const { process, exit } = await run({ ...script, abortAtCall, revokeOnAbort });
        // an end that came only when the last answer was there already changes nothing
        expect(exit.kind === "killed" || process.result === "done", `call ${abortAtCall}`).toBe(true);
        expect(process.trace.slice(abortAtCall).filter((name) => /^(Stat|Open|Write)/.test(name))).toEqual(
          [],
        );
        if (revokeOnAbort) continue;
        expectAnswered(process);
        expect(process.openFds.size).toBe(0);
      }
    }
  });

  test("says of each call how far it came", async () => {
    const process: FakeProcess = new FakeProcess({
      answers: [reply([call("view", {}, "1"), call("bash", {}, "2"), call("ls", {}, "3")])],
      tools: {
        ...tools,
        bash: {
          run: () => {
            process.end();
            return new Promise(() => undefined);
          },
        },
      },
    });
    expect((await process.run()).kind).toBe("killed");
    expect(process.messages.slice(2)).toEqual([
      { role: "tool", content: "content", tool_call_id: "1" },
      {
        role: "tool",
        content: "interrupted while running, effects may be partial",
        tool_call_id: "2",
        is_error: true,
      },
      { role: "tool", content: "cancelled before it started", tool_call_id: "3", is_error: true },
    ]);
    expect(process.openFds.size).toBe(0);
  });
});

function expectAnswered({ messages }: FakeProcess): void {
  messages.forEach((message, i) => {
    const made = callsOf(message.blocks ?? []).map((one) => one.id);
    const answered = messages.slice(i + 1, i + 1 + made.length).map((result) => result.tool_call_id);
    expect(answered).toEqual(made);
  });
  const all = messages.flatMap((message) => callsOf(message.blocks ?? []));
  expect(messages.filter((message) => message.role === "tool")).toHaveLength(all.length);
}
