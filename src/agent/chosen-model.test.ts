import { expect, test } from "vitest";
import { DriverError } from "../abi/errors.ts";
import type { ChosenModel } from "../abi/program.ts";
import { FakeProcess, restoredFrom } from "./testing/fake-process.ts";
import { call, reply, says } from "./testing/replies.ts";

const OTHER = "/dev/llm/other";
const chosen = (more: Partial<ChosenModel> = {}): ChosenModel => ({
  ...{ modelDevice: OTHER, model: "large", maker: `${OTHER} large`, chosen: 1, images: true },
  ...more,
});
const thought = { type: "thinking", thinking: "first", signature: "s" } as const;
const looks = (id: string) => reply([thought, { type: "text", text: "I look" }, call("ls", {}, id)]);

test("takes over between two steps: the conversation is sent to it without what only the other can read", async () => {
  const process = new FakeProcess({
    answers: [
      () => {
        process.chosen = chosen();
        return looks("1");
      },
    ],
    others: { [OTHER]: [looks("2"), reply("done")] },
    tools: { ls: says("a", true) },
  });
  expect((await process.run()).code).toBe(0);
  expect(process.requests.map(({ model }) => model)).toEqual(["", "large", "large"]);
  const sent = (n: number) =>
    process.requests[n]?.messages.flatMap(({ content }) => content.map(({ type }) => type));
  expect(sent(1)).toEqual(["text", "text", "tool_use", "tool_result"]);
  expect(sent(2)).toEqual([...sent(1)!, "thinking", "text", "tool_use", "tool_result"]);
  expect(process.logs).toEqual(["model: large answers from now on, in place of fake"]);
  expect(process.messages.flatMap(({ blocks = [] }) => blocks)).toContainEqual({
    ...thought,
    maker: `${OTHER} large`,
  });
  expect(process.trace.filter((each) => /^(Open|Close) .*(llm|3)/.test(each))).toEqual([
    `Open ${OTHER} 2`,
    "Close 3",
  ]);
  expect(process.result).toBe("done");
});

test("is told the view's images as text when it takes none", async () => {
  const shown = {
    content: "a picture",
    isError: false,
    media: [{ type: "image", mimeType: "image/png", data: "AAAA" }],
  };
  const process = new FakeProcess({
    answers: [
      () => {
        process.chosen = chosen({ images: false });
        return reply([call("ls", {}, "1")]);
      },
    ],
    others: { [OTHER]: [reply("done")] },
    tools: { ls: says("a", true) },
    said: [
      { role: "assistant", content: "", blocks: [{ type: "tool_use", id: "0", name: "ls", input: {} }] },
      { role: "tool", toolCallId: "0", ...shown } as never,
    ],
  });
  await process.run();
  expect(process.moves).toHaveLength(1);
  expect(process.messages.at(-2)?.content).toContain("[image removed: large takes no images]");
});

test("that cannot be opened leaves the answer to the model before, and is not tried again", async () => {
  const process = new FakeProcess({
    answers: [
      () => {
        process.chosen = chosen();
        return reply([call("ls", {}, "1")]);
      },
      reply([call("ls", {}, "2")]),
      reply("done"),
    ],
    others: { [OTHER]: new DriverError({ code: "PERMISSION", op: "Open", message: "not allowed" }) },
    tools: { ls: says("a", true) },
  });
  expect((await process.run()).code).toBe(0);
  expect(process.logs).toEqual(["model: large cannot answer, fake goes on: not allowed"]);
  expect(process.requests).toHaveLength(3);
});

test("takes over at once in a later daemon, with nothing of what was learned of the model before", async () => {
  const before = new FakeProcess({
    answers: [reply([call("ls", {}, "1")]), reply("x")],
    tools: { ls: says("a", true) },
  });
  await before.run();
  const kept = before.history.filter((each) => each.kind === "state").at(-2);
  const state = {
    ...(kept as { state: object }).state,
    kept: null,
    model: 1,
    window: { window: 9_000, ratio: 3 },
  };
  const process = new FakeProcess({
    answers: [reply([call("ls", {}, "2")]), reply("done")],
    tools: { ls: says("a", true) },
    restored: { state, since: [] },
  });
  Object.assign(process.start, {
    chosen: 1,
    window: { window: 200_000, maxOutput: 8_000, auto: true, compact: true },
  });
  expect((await process.run()).code).toBe(0);
  expect(process.measures.at(0)).toMatchObject({ window: 200_000, ratio: 1.1 });
  const last = process.history.findLast(({ kind }) => kind === "state") as { state: object };
  expect(last.state).toMatchObject({ chosen: 1 });
  expect(last.state).not.toHaveProperty("model");
  expect(restoredFrom(process.history).restored?.state).toBe(last.state);
});

test("with a smaller window answers after the model before has summarised what would be too long for it", async () => {
  const window = { window: 30_000, maxOutput: 8_000, auto: true, compact: true };
  const process = new FakeProcess({
    answers: [
      () => {
        process.chosen = chosen({ window });
        return reply([call("ls", {}, "9")]);
      },
      reply("<summary>short</summary>"),
    ],
    // the view of this fake stays as it is, so the next model tries, too
    others: { [OTHER]: [reply("<summary>short</summary>"), reply("done")] },
    tools: { ls: says("a", true) },
    said: [1, 2, 3, 4].flatMap((n) => [
      { role: "assistant" as const, content: `${n} ${"word ".repeat(6_000)}` },
      { role: "user" as const, content: "go on" },
    ]),
  });
  Object.assign(process.start, { window: { ...window, window: 200_000 } });
  await process.run();
  expect(process.requests.map(({ model, purpose }) => `${model} ${purpose}`).slice(0, 3)).toEqual([
    " main",
    " compact",
    expect.stringMatching(/^large/),
  ]);
  expect(process.moves[0]?.boundary).toMatchObject({ layer: "full", trigger: "auto" });
});
