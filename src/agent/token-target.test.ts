import { describe, expect, test } from "vitest";
import { asPid, PID_KERNEL } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import { type FakeOptions, FakeProcess, type Kept, restoredFrom } from "./testing/fake-process.ts";
import { call, reply, says } from "./testing/replies.ts";
import { tokenTargetOf, unmarked } from "./token-target.ts";

const window = { window: 200_000, maxOutput: 64_000, auto: true, compact: true, targets: true } as const;
const tools = { view: says("content") };
/** A reply of so many tokens. */
const wrote = (tokens: number, blocks: Parameters<typeof reply>[0] = `of ${tokens}`): Reply => {
  const { usage, ...rest } = reply(blocks);
  return { ...rest, usage: { ...usage, output_tokens: tokens } };
};
const asked = ({ requests }: FakeProcess) =>
  requests.map(({ messages }) =>
    messages
      .at(-1)
      ?.content.map((block) => (block.type === "text" ? block.text : ""))
      .join(""),
  );
const notes = ({ messages }: FakeProcess) =>
  messages.filter(({ role, content }) => role === "user" && content.startsWith("<crux-note>"));

async function run(options: FakeOptions) {
  const process = new FakeProcess({ window, tools, ...options });
  return { process, exit: await process.run() };
}

describe("a mark in a message", () => {
  const rows: [text: string, aim: number | undefined, rest: string][] = [
    ["+500k look", 500_000, "look"],
    ["look +2m", 2_000_000, "look"],
    ["look\n+1.5M\n", 1_500_000, "look"],
    ["look at +500k lines", undefined, "look at +500k lines"],
    ["look+500k", undefined, "look+500k"],
    ["+500 look", undefined, "+500 look"],
    ["+0k look", undefined, "+0k look"],
    ["+900000000m look", undefined, "+900000000m look"],
    ["+500k", undefined, "+500k"],
  ];
  test.each(rows)("%j", (text, aim, rest) => {
    expect(tokenTargetOf({ window }, { from: PID_KERNEL, text })?.aim).toBe(aim);
    const prompt = { systemPrompt: "", messages: [{ role: "user" as const, content: text }] };
    expect(unmarked({ window }, prompt).messages[0]?.content).toBe(rest);
    // the same object again, so that nothing is counted twice
    expect(unmarked({ window }, prompt).messages[0]).toBe(unmarked({ window }, prompt).messages[0]);
  });

  test("is text from another process, and where the setting is off", () => {
    expect(tokenTargetOf({ window }, { from: asPid(7), text: "+500k look" })).toBeNull();
    const { targets: _, ...off } = window;
    expect(tokenTargetOf({ window: off }, { from: PID_KERNEL, text: "+500k look" })).toBeNull();
    const prompt = { systemPrompt: "", messages: [{ role: "user" as const, content: "+500k look" }] };
    expect(unmarked({ window: off }, prompt)).toBe(prompt);
  });
});

describe("a run with a target", () => {
  test("continues below nine tenths, and the model does not see the mark", async () => {
    const { process, exit } = await run({
      intent: "+10k look",
      answers: [wrote(4_000), wrote(4_000), wrote(1_000)],
    });
    expect(exit.code).toBe(0);
    expect(asked(process)[0]).toBe("look");
    expect(asked(process).slice(1)).toEqual([
      expect.stringContaining("about 10,000 output tokens of work on this; so far it is 4,000"),
      expect.stringContaining("so far it is 8,000"),
    ]);
    expect(process.messages[0]?.content).toBe("+10k look");
    expect(process.result).toBe("of 1000");
    expect(process.logs.at(-1)).toContain("token target: 9,000 of 10,000 output tokens");
    expect(process.measures.map(({ target }) => target?.spent).filter((each) => each !== undefined)).toEqual([
      4_000, 8_000, 9_000,
    ]);
  });

  test("ends after two continuations in a row that brought next to nothing", async () => {
    const { process, exit } = await run({
      intent: "look +1m",
      answers: [wrote(10), wrote(499), wrote(900), wrote(20), wrote(30), wrote(1)],
    });
    expect([exit.code, process.requests.length]).toEqual([0, 5]);
    expect(process.logs.at(-1)).toContain("1,459 of 1,000,000 output tokens, and no more came");
  });

  test("is told once to finish where its calls bring it near", async () => {
    const view = [call("view")];
    const { process } = await run({
      intent: "+10k look",
      answers: [wrote(8_000, view), wrote(1_500, view), wrote(1_500, view), wrote(10)],
    });
    expect(notes(process).map(({ content }) => content)).toEqual([
      expect.stringContaining("9,500 are written. Finish"),
    ]);
    expect(process.requests).toHaveLength(4);
  });

  test("ends at the limit of its account before", async () => {
    const { process, exit } = await run({
      intent: "+10k look",
      budget: 900,
      answers: [wrote(1_000), wrote(1)],
    });
    expect([exit.code, process.requests.length]).toEqual([2, 1]);
  });

  test("has a new target from a message that joins it", async () => {
    const process = new FakeProcess({
      window,
      tools,
      answers: [wrote(10, [call("view")]), wrote(400), wrote(600)],
    });
    process.receive(0, "more of it +1k");
    await process.run();
    expect(process.requests).toHaveLength(3);
    expect(notes(process)).toHaveLength(1);
  });
});

test("a restart at any record continues toward the target: each reply counts once, none is lost or nudged twice", async () => {
  const answers = [wrote(3_000, [call("view")]), wrote(3_000), wrote(3_500), wrote(99)];
  const intent = "+10k look";
  const { process: whole } = await run({ intent, answers });
  const said = ({ messages }: FakeProcess) => messages.map(({ role, content }) => [role, content]);
  for (let died = 1; died < whole.history.length; died++) {
    const kept: readonly Kept[] = whole.history.slice(0, died);
    const first = restoredFrom(kept);
    const left = answers.slice(repliesIn(kept, answers));
    const { process } = await run({ intent, answers: left, ...first });
    expect([died, said(process)]).toEqual([died, said(whole)]);
  }
});

/** How many of the answers are recorded, in the context or in the position. */
function repliesIn(history: readonly Kept[], answers: readonly Reply[]): number {
  const text = JSON.stringify(history);
  return answers.filter(({ blocks }) => text.includes(JSON.stringify(blocks))).length;
}
