/** What a process does that is paused, and one that goes on in another daemon. */
import { describe, expect, test } from "vitest";
import type { ContextMessage } from "../abi/sys.ts";
import { answeredIn, finishedCalls, placeOf, unknownResult } from "./checkpoint.ts";
import { FakeProcess, type FakeTool, type Kept, restoredFrom } from "./testing/fake-process.ts";
import { call, reply, says } from "./testing/replies.ts";

/** Lets all go on that can go on without time. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const part = (index: number, content = `${index}`) =>
  ({ kind: "part", part: { call: index, content, isError: false } }) as const;
const effect = { kind: "effect" } as const;
const probed = (outcome: "done" | "not_done", tool: string, input: string) =>
  ({ kind: "probed", probed: { outcome, tool, input } }) as const;
const UNKNOWN = /^outcome unknown: the daemon stopped while it ran; check before repeating: \w+ \{/;
/** What is unknown, without the words of the call. */
const short = (content: string) => (UNKNOWN.test(content) ? "unknown" : content);

describe("finishedCalls()", () => {
  const calls = [
    call("bash", { n: "first" }),
    call("view", { n: "second" }),
    call("Write", { n: "third" }),
    call("edit", { n: "last" }),
  ];
  const done = "the daemon stopped while it ran; the file was written as asked";
  const notDone = "the daemon stopped before anything was written; send the call again if it is still wanted";
  type Event = typeof effect | ReturnType<typeof part> | ReturnType<typeof probed>;
  const rows: [name: string, since: Event[], results: unknown[]][] = [
    ["none has begun", [], []],
    ["one is over", [effect, part(0)], [[0, "0"]]],
    ["an effect began, and no more is known", [effect], [[0, "unknown"]]],
    [
      "the next one began an effect",
      [effect, part(0), effect],
      [
        [0, "0"],
        [1, "unknown"],
        [2, "unknown"],
      ],
    ],
    [
      "one of two that overlap is over, without effects",
      [effect, part(0), part(1)],
      [
        [0, "0"],
        [1, "1"],
      ],
    ],
    [
      "one of two that overlap is over, and effects began",
      [effect, part(0), effect, part(2)],
      [
        [0, "0"],
        [1, "unknown"],
        [2, "2"],
      ],
    ],
    [
      "an effect of a batch that is whole is none of the next",
      [part(0), effect, part(1), part(2)],
      [
        [0, "0"],
        [1, "1"],
        [2, "2"],
      ],
    ],
    ["the files tell that it was done", [effect, probed("done", "bash", '{"n":"first"}')], [[0, done]]],
    [
      "the files tell that nothing was done, by what a record kept of a long input",
      [effect, probed("not_done", "bash", '{"n":"fi')],
      [[0, notDone]],
    ],
    [
      "they tell it of another call, by its name or by its input",
      [effect, probed("done", "edit", '{"n":"first"}'), probed("done", "bash", '{"n":"last"}')],
      [[0, "unknown"]],
    ],
    [
      "they tell it of one of two that overlap, by the name that the tool has",
      [part(0), effect, probed("done", "write", '{"n":"third"}')],
      [
        [0, "0"],
        [1, "unknown"],
        [2, done],
      ],
    ],
    [
      "what was told of a batch that is whole is nothing of the next",
      [effect, probed("done", "edit", '{"n":"last"}'), part(0), part(1), part(2), effect],
      [
        [0, "0"],
        [1, "1"],
        [2, "2"],
        [3, "unknown"],
      ],
    ],
  ];
  test.each(rows)("%s", (_name, since, results) => {
    const known = finishedCalls({ state: null, since }, [1, 2, 1], calls);
    expect([...known].map(([index, { content }]) => [index, short(content)]).sort()).toEqual(results);
  });

  test("only what is done is no error", () => {
    for (const [outcome, isError] of [
      ["done", false],
      ["not_done", true],
    ] as const) {
      const since = [effect, probed(outcome, "bash", '{"n":"first"}')];
      expect(finishedCalls({ state: null, since }, [1, 2, 1], calls).get(0)).toMatchObject({ isError });
    }
  });
});

test("unknownResult() names the call, and not all of a long one", () => {
  const { content, isError } = unknownResult(call("bash", { command: `npm test ${"x".repeat(500)}` }));
  expect(isError).toBe(true);
  expect(content).toContain('check before repeating: bash {"command":"npm test xxx');
  expect(content.length).toBeLessThan(220);
});

test("placeOf() reads what version 1 told, which knew no runs", () => {
  const told = { v: 1, turn: 3, requests: 4, hasEscalated: false, hasRetriedEmpty: true, kept: null };
  expect(placeOf({ state: told, since: [] })).toEqual({ ...told, v: 2, run: null });
});

test("placeOf() refuses a place that another version told", () => {
  expect(placeOf(null).turn).toBe(0);
  expect(placeOf({ state: null, since: [] }).turn).toBe(0);
  expect(() => placeOf({ state: { v: 3 }, since: [] })).toThrow(/another version of crux: 3/);
});

test("answeredIn() knows a step that was written in part", () => {
  const [ls, view] = [call("ls", {}, "1"), call("view", {}, "2")];
  const step = reply([ls, view]);
  const said = { role: "assistant", content: "", blocks: [ls, view] } as const;
  const result = { role: "tool", content: "a", tool_call_id: "1" } as const;
  expect(answeredIn([], step)).toBeNull();
  expect(answeredIn([{ ...said, blocks: [ls] }], step)).toBeNull();
  expect(answeredIn([said], step)).toEqual(new Set());
  expect(answeredIn([said, result], step)).toEqual(new Set(["1"]));
  const last = reply("done");
  const words = { role: "assistant", content: "done", blocks: last.blocks } as const;
  expect(answeredIn([words], last)).toEqual(new Set());
  expect(answeredIn([words, { role: "user", content: "again" }], last)).toBeNull();
});

describe("a pause", () => {
  test("while the reply comes keeps it: on record, no call run, nothing asked", async () => {
    const process: FakeProcess = new FakeProcess({
      answers: [
        () => {
          process.pause();
          return reply([call("ls")]);
        },
        reply("done"),
      ],
      tools: { ls: says("a") },
    });
    const over = process.run();
    await settle();
    expect(process.requests).toHaveLength(1);
    expect(process.trace.filter((name) => name.startsWith("Open"))).toEqual([]);
    expect(process.history).toMatchObject([
      { kind: "state", state: { turn: 1, requests: 1, kept: { reply: {} } } },
    ]);
    process.resume();
    expect((await over).code).toBe(0);
    expect(process.requests).toHaveLength(2);
  });

  test("while the last reply comes holds the end, too", async () => {
    const process: FakeProcess = new FakeProcess({
      answers: [
        () => {
          process.pause();
          return reply("done");
        },
      ],
    });
    const over = process.run();
    await settle();
    expect(process.history).toMatchObject([{ kind: "state", state: { kept: { reply: { id: "m1" } } } }]);
    process.resume();
    expect((await over).code).toBe(0);
    expect(process.history.map(({ kind }) => kind)).toEqual(["state", "message", "state"]);
  });

  test("between two calls lets the one that runs finish, and begins no other", async () => {
    const ran: string[] = [];
    const tool = (name: string, then = () => {}): FakeTool => ({
      run: () => {
        ran.push(name);
        then();
        return { ok: true, content: [{ type: "text", text: name }] };
      },
    });
    const process: FakeProcess = new FakeProcess({
      answers: [reply([call("bash"), call("write")]), reply("done")],
      tools: { bash: tool("bash", () => process.pause()), write: tool("write") },
    });
    const over = process.run();
    await settle();
    expect(ran).toEqual(["bash"]);
    expect(process.history.at(-1)).toEqual({
      kind: "part",
      part: { call: 0, content: "bash", isError: false },
    });
    process.resume();
    await over;
    expect(ran).toEqual(["bash", "write"]);
  });

  test("a step without one costs a record for its reply, one for each call, and one for its end", async () => {
    const process = new FakeProcess({
      answers: [reply([call("ls", {}, "1"), call("view", {}, "2")]), reply("done")],
      tools: { ls: says("a", true), view: says("b", true) },
    });
    await process.run();
    expect(process.history.map(({ kind }) => kind)).toEqual([
      "state",
      "part",
      "part",
      "message",
      "message",
      "message",
      "state",
      "message",
    ]);
  });
});

describe("a daemon that dies at any point", () => {
  /** How often each call ran, over all daemons. */
  const script = (ran: Map<string, number>) => {
    const tool = (name: string, hasEffect: boolean): FakeTool => ({
      hasEffect,
      parallel: !hasEffect,
      run: (input) => {
        const { n } = input as { n: string };
        ran.set(n, (ran.get(n) ?? 0) + 1);
        return { ok: true, content: [{ type: "text", text: `${name} ${n}` }] };
      },
    });
    return {
      answers: [
        reply([
          call("ls", { n: "a" }, "a"),
          call("view", { n: "b" }, "b"),
          call("bash", { n: "c" }, "c"),
          call("bash", { n: "d" }, "d"),
        ]),
        reply([call("write", { n: "e" }, "e")]),
        reply("done"),
      ],
      tools: {
        ls: tool("ls", false),
        view: tool("view", false),
        bash: tool("bash", true),
        write: tool("write", true),
      },
    };
  };
  const answered = (history: readonly Kept[]) => {
    const states = history.flatMap((kept) =>
      kept.kind === "state" ? [kept.state as { requests: number }] : [],
    );
    return states.at(-1)?.requests ?? 0;
  };

  test("asks for nothing again, repeats no effect, answers every call once", async () => {
    const whole = new FakeProcess(script(new Map()));
    await whole.run();
    const points = whole.history.map((_, index) => index);
    expect(points.length).toBeGreaterThan(12);
    for (const point of points) {
      const ran = new Map<string, number>();
      const first = new FakeProcess(script(ran));
      await first.run();
      // what ran before the daemon died ran once, whatever is known of it
      const history = first.history.slice(0, point);
      const begun = effectsIn(history);
      for (const n of ["c", "d", "e"]) ran.set(n, begun.has(n) ? 1 : 0);
      const { answers, tools } = script(ran);
      const next = new FakeProcess({
        answers: answers.slice(answered(history)),
        tools,
        ...restoredFrom(history),
      });
      expect((await next.run()).code, `point ${point}`).toBe(0);
      expect(next.result).toBe("done");
      expect(answered(history) + next.requests.length, `requests, point ${point}`).toBe(3);
      expect([ran.get("c"), ran.get("d"), ran.get("e")], `runs, point ${point}`).toEqual([1, 1, 1]);
      const unknown = next.messages.filter(({ content }) => UNKNOWN.test(content));
      expect(unknown.length, `unknown, point ${point}`).toBeLessThanOrEqual(1);
      expect(known(next.messages, whole.messages), `context, point ${point}`).toEqual(whole.messages);
    }
  });

  /** The effects come in the order of the calls. */
  function effectsIn(history: readonly Kept[]): Set<string> {
    const count = history.filter(({ kind }) => kind === "effect").length;
    return new Set(["c", "d", "e"].slice(0, count));
  }

  /** What is unknown of `messages`, filled in from a run that nobody cut off. */
  function known(messages: readonly ContextMessage[], whole: readonly ContextMessage[]): ContextMessage[] {
    return messages.map((message, i) => (UNKNOWN.test(message.content) ? whole[i]! : message));
  }

  test("knows which calls ran together, whatever the tools are now", async () => {
    const ran: string[] = [];
    const bash: FakeTool = {
      run: (input) => {
        ran.push((input as { n: string }).n);
        return { ok: true, content: [{ type: "text", text: "ran" }] };
      },
    };
    const asked = reply(["a", "b", "c"].map((n) => call("bash", { n }, n)));
    const kept = { reply: asked, maxOutputTokens: 1, escalatedOutputTokens: 1, batches: [2, 1] };
    const state = { v: 1, turn: 1, requests: 1, hasEscalated: false, hasRetriedEmpty: false, kept };
    const since = [effect, effect, part(0, "over")];
    const process = new FakeProcess({
      answers: [reply("done")],
      tools: { bash },
      restored: { state, since },
    });
    await process.run();
    expect(ran).toEqual(["c"]);
    const results = process.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(results).toEqual(["over", expect.stringMatching(UNKNOWN), "ran"]);
    // and so does the daemon after this one
    expect(restoredFrom(process.history.slice(0, 4))).toMatchObject({
      restored: {
        state: { kept: { batches: [1, 1, 1] } },
        since: [{ kind: "part" }, { kind: "part" }, { kind: "part" }],
      },
    });
  });

  test("twice does not run what was unknown once", async () => {
    const ran = new Map<string, number>();
    const { answers, tools } = script(ran);
    const first = new FakeProcess({ answers, tools });
    await first.run();
    const dead = first.history.slice(0, first.history.findIndex(({ kind }) => kind === "effect") + 1);
    ran.clear();
    const second = new FakeProcess({ answers: answers.slice(1), tools, ...restoredFrom(dead) });
    await second.run();
    const at = second.history.findIndex(({ kind }) => kind === "effect");
    const third = new FakeProcess({
      answers: answers.slice(1),
      tools,
      ...restoredFrom([...dead, ...second.history.slice(0, at + 2)]),
    });
    await third.run();
    expect(ran.get("c")).toBeUndefined();
    expect(third.messages.find(({ tool_call_id }) => tool_call_id === "c")?.content).toMatch(UNKNOWN);
  });
});
