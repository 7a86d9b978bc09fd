import { describe, expect, test } from "vitest";
import { DriverError } from "../../abi/errors.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { type FakeOptions, FakeProcess, restoredFrom } from "../testing/fake-process.ts";
import { call, reply, says } from "../testing/replies.ts";

const tools = { ls: says("a\nb", true) };
const busy = new LlmError({ kind: "overloaded", message: "busy", status: 529 });
const unknown = new LlmError({ kind: "model_not_found", message: "no such model", status: 404 });
const refused = new DriverError({ code: "PERMISSION", op: "Open", message: "not allowed" });
const thought = (thinking: string) => ({ type: "thinking", thinking, signature: "s" }) as const;
const text = (said: string) => ({ type: "text", text: said }) as const;

async function run(options: FakeOptions) {
  const process = new FakeProcess(options);
  return { process, exit: await process.run() };
}

describe("a fallback model", () => {
  test("answers after three overloads in a row, for the rest of the run; the log names both and the cause", async () => {
    const { process, exit } = await run({
      answers: [busy, busy, busy],
      fallbacks: { "/dev/llm/other": [reply([call("ls")]), reply("done")] },
      tools,
    });
    expect(exit.code).toBe(0);
    expect(process.result).toBe("done");
    expect(process.requests.map(({ model }) => model)).toEqual(["", "", "", "other", "other"]);
    expect(process.sleeps).toHaveLength(2);
    expect(process.logs.at(-1)).toBe("model: fake overloaded; other answers for the rest of the run");
    expect(process.trace.filter((name) => name.startsWith("Open /dev"))).toEqual(["Open /dev/llm/other 2"]);
    expect(process.openFds.size).toBe(0);
    expect(process.steps).toEqual([1, 2]);
  });

  test("answers at once for a model that does not exist", async () => {
    const { process } = await run({ answers: [unknown], fallbacks: { "/dev/llm/other": [reply("done")] } });
    expect(process.result).toBe("done");
    expect(process.sleeps).toEqual([]);
    expect(process.logs).toEqual(["model: fake not found; other answers for the rest of the run"]);
  });

  test("does not answer while overloads are not three in a row", async () => {
    const slow = new LlmError({ kind: "rate_limit", message: "slow", status: 429 });
    const answers = [busy, busy, slow, busy, busy, reply("done")];
    const { process } = await run({ answers, fallbacks: { "/dev/llm/other": [] } });
    expect(process.result).toBe("done");
    expect(process.requests).toHaveLength(6);
  });

  test("gives way to the next one, and the last one's failure ends the run", async () => {
    const fallbacks = { "/dev/llm/b": [unknown], "/dev/llm/c": [unknown] };
    const { process, exit } = await run({ answers: [unknown], fallbacks });
    expect(exit).toMatchObject({ code: 1, kind: "fault", reason: "no such model" });
    expect(process.requests.map(({ model }) => model)).toEqual(["", "b", "c"]);
    expect(process.openFds.size).toBe(0);
  });

  test("that the process may not open does not count", async () => {
    const fallbacks = { "/dev/llm/b": refused, "/dev/llm/c": [reply("done")] };
    expect((await run({ answers: [unknown], fallbacks })).process.result).toBe("done");
    const { exit, process } = await run({ answers: [unknown], fallbacks: { "/dev/llm/b": refused } });
    expect(exit).toMatchObject({ code: 1, reason: "no such model" });
    expect(process.requests).toHaveLength(1);
  });

  test("is not sent what the other model alone can read, and the context keeps it", async () => {
    const first = reply([thought("first"), text("I look"), call("ls", {}, "1")]);
    const second = reply([thought("second"), call("ls", {}, "2")]);
    const { process } = await run({
      answers: [first, busy, busy, busy],
      fallbacks: { "/dev/llm/other": [second, reply("done")] },
      tools,
    });
    const sent = (n: number) => process.requests[n]?.messages.flatMap(({ content }) => content);
    expect(sent(1)).toContainEqual(thought("first"));
    expect(sent(4)?.map(({ type }) => type)).toEqual(["text", "text", "tool_use", "tool_result"]);
    expect(sent(5)).toContainEqual(thought("second"));
    expect(sent(5)).not.toContainEqual(thought("first"));
    const kept = process.messages.flatMap(({ blocks = [] }) => blocks);
    expect(kept).toContainEqual(thought("first"));
    expect(kept).toContainEqual({ ...thought("second"), maker: "/dev/llm/other other" });
  });

  test("answers in a later daemon too, in the middle of a run", async () => {
    const answers = [busy, busy, busy];
    const fallbacks = { "/dev/llm/other": [reply([call("ls")]), reply("done")] };
    const { process } = await run({ answers, fallbacks, tools });
    const at = process.history.findLastIndex(({ kind }) => kind === "state");
    const again = await run({
      answers: [],
      fallbacks: { "/dev/llm/other": [reply("done")] },
      tools,
      ...restoredFrom(process.history.slice(0, at + 1)),
    });
    expect(again.process.result).toBe("done");
    expect(again.process.requests.map(({ model }) => model)).toEqual(["other"]);
  });
});
