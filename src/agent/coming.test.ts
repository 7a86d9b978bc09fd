/** Calls that begin while the rest of their reply still comes; streams that break; restarts in between. */
import { describe, expect, test } from "vitest";
import { LlmError } from "../abi/llm-error.ts";
import type { ToolCall } from "../abi/loop.ts";
import { MAX_CALLS } from "./model/reply.ts";
import {
  type FakeOptions,
  FakeProcess,
  type FakeTool,
  type Kept,
  restoredFrom,
  StreamedReply,
} from "./testing/fake-process.ts";
import { agentInfo, call, reply, says } from "./testing/replies.ts";

const text = (said: string) => ({ type: "text", text: said }) as const;
const done = reply("done");
const broken = () => new LlmError({ kind: "stream_malformed", message: "the reply ended early" });
const results = ({ messages }: FakeProcess) =>
  messages.flatMap(({ role, content, tool_call_id }) => (role === "tool" ? [[tool_call_id, content]] : []));

/** Tools that write down when they begin and end, and whose end a test may hold back. */
class Bench {
  readonly events: string[] = [];
  readonly #begun = new Map<string, PromiseWithResolvers<void>>();

  tool(
    name: string,
    { parallel = false, until }: { parallel?: boolean; until?: Promise<unknown> } = {},
  ): FakeTool {
    return {
      parallel,
      hasEffect: !parallel,
      run: async (input) => {
        const { n } = input as { n: number };
        this.events.push(`${name} ${n} begins`);
        this.#of(`${name} ${n}`).resolve();
        await until;
        this.events.push(`${name} ${n} ends`);
        return { ok: true, content: [{ type: "text", text: `${name} ${n}` }] };
      },
    };
  }

  begun(what: string): Promise<void> {
    return this.#of(what).promise;
  }

  #of(what: string): PromiseWithResolvers<void> {
    const known = this.#begun.get(what) ?? Promise.withResolvers<void>();
    this.#begun.set(what, known);
    return known;
  }
}

const view = (n: number): ToolCall => call("view", { n }, `v${n}`);
const write = (n: number): ToolCall => call("write", { n }, `w${n}`);

async function run(options: FakeOptions) {
  const process = new FakeProcess(options);
  return { process, exit: await process.run() };
}

describe("a reply whose calls are whole before its end", () => {
  test("a call begins before the rest comes, and what was said before it is shown first", async () => {
    const bench = new Bench();
    const first = [text("I look."), view(1)];
    const process: FakeProcess = new FakeProcess({
      answers: [
        new StreamedReply(first, async () => {
          await bench.begun("view 1");
          bench.events.push(`then comes the rest, said: ${process.said.join()}`);
          return reply([...first, text("And more."), view(2)]);
        }),
        done,
      ],
      tools: { view: bench.tool("view") },
    });
    await process.run();
    expect(bench.events[0]).toBe("view 1 begins");
    expect(bench.events).toContain("then comes the rest, said: I look.");
    expect(process.said).toEqual(["I look.", "And more."]);
    expect(process.replied[0]?.blocks).toHaveLength(4);
    expect(results(process)).toEqual([
      ["v1", "view 1"],
      ["v2", "view 2"],
    ]);
    expect(process.result).toBe("done");
  });

  test("two reads overlap, two writes do not, and the results are in the order of the calls", async () => {
    const bench = new Bench();
    const calls = [view(1), view(2), write(3), write(4)];
    const { process } = await run({
      answers: [
        new StreamedReply(calls.slice(0, 1), async () => {
          await bench.begun("view 1");
          return reply(calls);
        }),
        done,
      ],
      tools: {
        view: bench.tool("view", { parallel: true, until: bench.begun("view 2") }),
        write: bench.tool("write"),
      },
    });
    expect(bench.events.slice(0, 2)).toEqual(["view 1 begins", "view 2 begins"]);
    expect(bench.events.slice(4)).toEqual([
      "write 3 begins",
      "write 3 ends",
      "write 4 begins",
      "write 4 ends",
    ]);
    expect(results(process).map(([id]) => id)).toEqual(["v1", "v2", "w3", "w4"]);
  });

  test.each([
    ["without arguments", call("write", {}, "bare")],
    ["whose arguments did not parse", call("write", { __malformed_json: "{" }, "bad")],
  ])("a call %s, and those after it, wait for the end: it may be cut off", async (_name, held) => {
    const bench = new Bench();
    const first = [view(1), held, view(2)];
    const { process } = await run({
      answers: [
        new StreamedReply(first, async () => {
          await bench.begun("view 1");
          bench.events.push("the rest comes");
          return reply(first);
        }),
        done,
      ],
      tools: { view: bench.tool("view", { parallel: true }), write: says("written") },
    });
    expect(bench.events.indexOf("view 2 begins")).toBeGreaterThan(bench.events.indexOf("the rest comes"));
    expect(results(process).map(([id]) => id)).toEqual(["v1", held.id, "v2"]);
  });

  test("a reply that is cut off after a call began is kept, and not asked for again with more room", async () => {
    const bench = new Bench();
    const cut = [write(1), call("write", { __malformed_json: '{"n": ' }, "cut")];
    const { process } = await run({
      answers: [
        new StreamedReply(cut.slice(0, 1), async () => {
          await bench.begun("write 1");
          return reply(cut, { stopReason: "max_tokens" });
        }),
        done,
      ],
      tools: { write: bench.tool("write") },
    });
    expect(process.requests).toHaveLength(2);
    expect(results(process)[1]?.[1]).toContain("the call was cut off at the output limit");
    expect(bench.events).toEqual(["write 1 begins", "write 1 ends"]);
  });

  test("a refusal after a call began ends the run, with one result for each call", async () => {
    const bench = new Bench();
    const first = [write(1), write(2)];
    const { process, exit } = await run({
      answers: [
        new StreamedReply(first, async () => {
          await bench.begun("write 1");
          return reply(first, { stopReason: "refusal" });
        }),
      ],
      tools: { write: bench.tool("write", { until: Promise.resolve() }) },
    });
    expect(exit).toMatchObject({ code: 1, kind: "fault" });
    expect(results(process).map(([id]) => id)).toEqual(["w1", "w2"]);
  });
});

describe("a stream that breaks", () => {
  const breaking = (bench: Bench, n: number) =>
    new StreamedReply([text(`try ${n}`), write(n)], async () => {
      await bench.begun(`write ${n}`);
      return broken();
    });

  test("after a write began: it is written once, and the next request holds its result", async () => {
    const bench = new Bench();
    const { process, exit } = await run({
      answers: [breaking(bench, 1), done],
      tools: { write: bench.tool("write") },
    });
    expect(exit.code).toBe(0);
    expect(bench.events).toEqual(["write 1 begins", "write 1 ends"]);
    expect(process.requests).toHaveLength(2);
    expect(process.requests[1]?.messages.slice(-2)).toEqual([
      { role: "assistant", content: [text("try 1"), write(1)] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "w1", content: "write 1" }] },
    ]);
    expect(process.sleeps).toEqual([]);
    expect(process.logs).toEqual([
      "model: the reply broke off (the reply ended early); what had come stays, 2 blocks",
    ]);
  });

  test("before a call began: nothing of it stays, and it is asked for again", async () => {
    const bench = new Bench();
    const { process } = await run({
      answers: [new StreamedReply([text("half")], async () => broken()), done],
      tools: { write: bench.tool("write") },
    });
    expect(JSON.stringify(process.messages)).not.toContain("half");
    expect(process.sleeps).toHaveLength(1);
    expect(process.result).toBe("done");
  });

  test("twice in a row: one complete answer is asked for, of 8,000 tokens at most, and only once", async () => {
    const breaks = () => new StreamedReply([text("half")], async () => broken());
    const { process } = await run({
      answers: [reply("cut", { stopReason: "max_tokens" }), ...Array.from({ length: 3 }, breaks), done],
    });
    expect(process.requests.map(({ whole, maxOutputTokens }) => [whole, maxOutputTokens])).toEqual([
      [undefined, 8_000],
      [undefined, 64_000],
      [undefined, 64_000],
      [true, 8_000],
      [undefined, 64_000],
    ]);
    expect(process.result).toBe("done");
  });

  test("the run ends at the fourth such reply in a row; a whole one in between starts the count again", async () => {
    const bench = new Bench();
    const ended = await run({
      answers: [1, 2, 3, 4].map((n) => breaking(bench, n)),
      tools: { write: bench.tool("write") },
    });
    expect(ended.exit).toMatchObject({ code: 1, kind: "fault" });
    expect(ended.exit.reason).toBe("the reply broke off 4 times in a row: the reply ended early");
    expect(bench.events).toHaveLength(8);
    expect(results(ended.process)).toHaveLength(4);
    const again = new Bench();
    const { exit } = await run({
      answers: [
        ...[1, 2, 3].map((n) => breaking(again, n)),
        reply([write(4)]),
        ...[5, 6, 7].map((n) => breaking(again, n)),
        done,
      ],
      tools: { write: again.tool("write") },
    });
    expect(exit.code).toBe(0);
  });

  test("by the end of the process: its calls have their results, and none begins", async () => {
    const bench = new Bench();
    const held = Promise.withResolvers<void>();
    const process: FakeProcess = new FakeProcess({
      answers: [
        new StreamedReply([text("both"), write(1), write(2)], async () => {
          await bench.begun("write 1");
          process.end();
          return done;
        }),
      ],
      tools: { write: bench.tool("write", { until: held.promise }) },
    });
    expect((await process.run()).kind).toBe("killed");
    expect(bench.events).toEqual(["write 1 begins"]);
    expect(results(process)).toEqual([
      ["w1", "interrupted while running, effects may be partial"],
      ["w2", "cancelled before it started"],
    ]);
    held.resolve();
  });
});

test("wherever the daemon dies, no call is lost, none runs twice, and each has one result", async () => {
  const bench = new Bench();
  const calls = [write(1), view(2), view(3), write(4)];
  const first = await run({
    answers: [
      new StreamedReply([text("four"), ...calls.slice(0, 2)], async () => {
        await bench.begun("view 2");
        return reply([text("four"), ...calls]);
      }),
      done,
    ],
    tools: { view: bench.tool("view", { parallel: true }), write: bench.tool("write") },
  });
  expect(first.process.result).toBe("done");
  const { history } = first.process;
  const begun = history.findIndex((each) => each.kind === "state" && JSON.stringify(each).includes("isOpen"));
  expect(begun).toBeGreaterThanOrEqual(0);
  // the last one is the answer: with it, nothing is left to do
  for (let cut = begun + 1; cut < history.length; cut++) {
    const kept: Kept[] = history.slice(0, cut);
    const again = new Bench();
    const { process } = await run({
      answers: [done],
      tools: { view: again.tool("view", { parallel: true }), write: again.tool("write") },
      ...restoredFrom(kept),
    });
    expect(process.result, `cut at ${cut}`).toBe("done");
    const asked = process.messages.flatMap(({ blocks = [] }) =>
      blocks.filter(({ type }) => type === "tool_use"),
    );
    // the rest of a reply is lost with the stream, never one of its calls that were recorded
    expect(asked.length, `cut at ${cut}`).toBeGreaterThanOrEqual(2);
    expect(results(process).map(([id]) => id)).toEqual(asked.map((each) => (each as ToolCall).id));
    const effects = kept.filter(({ kind }) => kind === "effect").length;
    const writes = again.events.filter((event) => /^write \d begins/.test(event)).length;
    const wanted = asked.filter((each) => (each as ToolCall).name === "write").length;
    expect(effects + writes, `cut at ${cut}`).toBe(wanted);
  }
});

describe("a reply with too many calls", () => {
  test("has the first thousand of them run, and the model is told of the others", async () => {
    const calls = Array.from({ length: MAX_CALLS + 500 }, (_, n) => view(n));
    const ran: number[] = [];
    const tool: FakeTool = {
      parallel: true,
      run: (input) => {
        ran.push((input as { n: number }).n);
        return { ok: true, content: [] };
      },
    };
    const { process, exit } = await run({
      answers: [new StreamedReply(calls.slice(0, 10), async () => reply([...calls, text("all")])), done],
      tools: { view: tool },
    });
    expect(exit.code).toBe(0);
    expect(ran).toEqual(Array.from({ length: MAX_CALLS }, (_, n) => n));
    expect(results(process)).toHaveLength(MAX_CALLS);
    const last = process.messages.findLast(({ role }) => role === "user");
    expect(last?.content).toContain("at most 1000 calls: 500 more of your last one were dropped");
  });
});

test("a call that forks begins when its reply has ended, and the reply is offered to it as a whole while it runs", async () => {
  const fork = call("agent", { n: 1, subagent_type: "Fork" }, "f1");
  const bench = new Bench();
  const whole = reply([text("Both."), fork, view(2)]);
  const { process } = await run({
    agent: agentInfo({ tools: ["agent", "view"] }),
    answers: [
      new StreamedReply(whole.blocks.slice(0, 2), async () => {
        await new Promise(setImmediate);
        expect(bench.events).toEqual([]);
        return whole;
      }),
      done,
    ],
    tools: { agent: bench.tool("agent", { parallel: true }), view: bench.tool("view", { parallel: true }) },
  });
  expect(bench.events).toContain("agent 1 begins");
  expect(process.offers).toMatchObject([{ reply: whole.blocks }, null]);
  expect(process.offers[0]?.prefix.tools.map(({ name }) => name)).toEqual(["agent", "view"]);
});
