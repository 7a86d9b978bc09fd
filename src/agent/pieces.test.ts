import { describe, expect, test } from "vitest";
import { PAUSE_NOTE, RESUME_NOTE } from "./pieces.ts";
import { type FakeOptions, FakeProcess, type FakeTool, restoredFrom } from "./testing/fake-process.ts";
import { call, reply, says } from "./testing/replies.ts";

const tools = { view: says("content"), ls: says("a\nb", true) };

async function run(options: FakeOptions) {
  const process = new FakeProcess(options);
  return { process, exit: await process.run() };
}

describe("a reply that is cut off again", () => {
  const cut = (text: string) => reply(text, { stopReason: "max_tokens" });
  const saidBy = (process: FakeProcess) => process.messages.slice(1).map(({ content }) => content);

  test("is resumed three times; its pieces are one result", async () => {
    const answers = [cut("dropped"), cut("one "), cut("two "), cut("three "), reply("four")];
    const { process, exit } = await run({ answers });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("one two three four");
    expect(saidBy(process)).toEqual([
      "one ",
      RESUME_NOTE,
      "two ",
      RESUME_NOTE,
      "three ",
      RESUME_NOTE,
      "four",
    ]);
    expect(process).toMatchObject({ steps: [1], said: [] });
    expect(process.requests.map((request) => request.maxOutputTokens)).toEqual([
      8_000,
      ...Array.from({ length: 4 }, () => 64_000),
    ]);
    expect(process.logs[0]).toBe("model: reply cut off at 64000 output tokens, resumed 1/3");
  });

  test("ends with the withheld error after the third, and keeps what was said", async () => {
    const { process, exit } = await run({ answers: ["", "a", "b", "c", "d"].map(cut) });
    expect(exit).toMatchObject({
      code: 1,
      kind: "fault",
      reason: "the reply was cut off at 64000 output tokens",
    });
    expect(process.result).toBe("abcd");
    expect(process.requests).toHaveLength(5);
  });

  test("begins to count anew with the next step", async () => {
    const step = [cut("a"), cut("b"), cut("c")];
    const answers = [cut("dropped"), ...step, reply([call("ls")]), ...step, reply("done")];
    const { process, exit } = await run({ answers, tools });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("abcdone");
    expect(process.steps).toEqual([1, 2]);
  });

  test("with thoughts alone leaves only the note in the context", async () => {
    const thoughts = reply([{ type: "thinking", thinking: "hm", signature: "s" }], {
      stopReason: "max_tokens",
    });
    const { process } = await run({ answers: [thoughts, thoughts, reply("done")] });
    expect(saidBy(process)).toEqual([RESUME_NOTE, "done"]);
  });

  test("is not resumed where a call of it is unfinished: the model is told which call", async () => {
    const half = reply([{ type: "text", text: "I write" }, call("view", { __malformed_json: '{"file' })], {
      stopReason: "max_tokens",
    });
    const bare = reply([call("ls"), call("view", {}, "bare")], { stopReason: "max_tokens" });
    let views = 0;
    const view: FakeTool = { run: () => says(`${++views}`).run({}, AbortSignal.abort()) };
    const { process, exit } = await run({
      answers: [half, half, bare, reply("done")],
      tools: { ...tools, view },
    });
    expect(exit.code).toBe(0);
    expect(views).toBe(0);
    expect(process.messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      expect.stringMatching(/^Error \[INVALID\]: view: the call was cut off at the output limit/),
      "a\nb",
      expect.stringMatching(/^Error \[INVALID\]: view: the call was cut off at the output limit/),
    ]);
    expect(saidBy(process)).not.toContain(RESUME_NOTE);
  });

  test("is resumed by a later daemon where it was", async () => {
    const answers = [cut("dropped"), cut("one "), cut("two "), reply("three")];
    const first = await run({ answers });
    const at = first.process.history.findIndex(
      (each) => each.kind === "message" && each.message.content === "two ",
    );
    const { process } = await run({
      answers: [reply("three")],
      ...restoredFrom(first.process.history.slice(0, at + 2)),
    });
    expect(process.result).toBe("one two three");
    expect(process.steps).toEqual([1]);
    const late = [cut("3"), cut("4")];
    const ended = await run({ answers: late, ...restoredFrom(first.process.history.slice(0, at + 2)) });
    expect(ended.exit).toMatchObject({ code: 1 });
  });
});

describe("a reply after which the provider pauses", () => {
  const pause = (text: string) => reply(text, { stopReason: "pause_turn" });

  test("goes on, and its pieces are one result", async () => {
    const { process, exit } = await run({ answers: [pause("one "), pause("two "), reply("three")] });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("one two three");
    expect(process.requests[2]?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "do it" }] },
      { role: "assistant", content: [{ type: "text", text: "one " }] },
      { role: "user", content: [{ type: "text", text: PAUSE_NOTE }] },
      { role: "assistant", content: [{ type: "text", text: "two " }] },
      { role: "user", content: [{ type: "text", text: PAUSE_NOTE }] },
    ]);
    expect(process.steps).toEqual([1]);
  });

  test("goes on eight times in a row, and then ends the run", async () => {
    const { process, exit } = await run({ answers: Array.from({ length: 9 }, () => pause("x")) });
    expect(exit).toMatchObject({
      code: 1,
      kind: "fault",
      reason: "the provider paused the reply 9 times in a row",
    });
    expect(process.requests).toHaveLength(9);
  });

  test("is no end for a later daemon, unless the reply was whole", async () => {
    const whole = await run({ answers: [pause("one "), reply("two")] });
    const part = restoredFrom(whole.process.history.slice(0, -1));
    expect((await run({ answers: [reply("two")], ...part })).process.result).toBe("one two");
    const again = await run({ answers: [], ...restoredFrom(whole.process.history) });
    expect(again).toMatchObject({ exit: { code: 0 }, process: { requests: [] } });
  });
});
