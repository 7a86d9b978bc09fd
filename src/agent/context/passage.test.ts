/** In which order a view is shortened before a request, when, and when not at all. */
import { describe, expect, test } from "vitest";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { reply } from "../testing/replies.ts";
import { eightViews, facts, turnWith, viewed } from "../testing/turns.ts";
import { WindowKeeper } from "./keeper.ts";
import type { Turn } from "./turn.ts";

type Start = ConstructorParameters<typeof WindowKeeper>[0];
type State = ConstructorParameters<typeof WindowKeeper>[1];

/** Steps of 5,000 tokens whose results are not cleared first. */
const sends = (count: number): ContextMessage[] =>
  Array.from({ length: count }, (_, i) =>
    viewed(`${i}`).map(({ blocks, ...each }) =>
      blocks === undefined
        ? each
        : { ...each, blocks: [{ type: "tool_use" as const, id: `${i}`, name: "send", input: {} }] },
    ),
  ).flat();

describe("before a request", () => {
  const layers = async (more: Partial<Turn> = {}) => {
    const { turn, moves, sent } = turnWith(0);
    await new WindowKeeper({ window: facts(48_000), viewRequests: true }).ask({ ...turn, ...more });
    return [moves.map(({ boundary }) => boundary.layer), sent];
  };

  test("old results are cleared first, and a summary is written only if that is not enough", async () => {
    expect(await layers()).toEqual([
      ["micro", "full"],
      ["compact", "main"],
    ]);
    const cleared = eightViews.map((each, i) =>
      each.role === "tool" && i < 7 ? { ...each, content: "" } : each,
    );
    const renew = async (): Promise<Prompt> => ({ systemPrompt: "", messages: cleared });
    expect(await layers({ renew })).toEqual([["micro"], ["main"]]);
  });

  test.each([
    ["results of 20,000 tokens come after a reply that has counted 160,000", 32, ["compact", "main"]],
    ["results of 5,000 tokens come after it", 29, ["main"]],
  ])("what is added counts: %s", async (_what, steps, expected) => {
    const window = { ...facts(200_000), maxOutput: 64_000 };
    const keeper = new WindowKeeper({ window, viewRequests: true });
    const first = turnWith(0, { messages: sends(28) });
    const usage = { ...reply("").usage, input_tokens: 159_980, output_tokens: 20 };
    await keeper.ask({ ...first.turn, send: async () => reply("ok", { usage }) });
    expect(first.moves).toEqual([]);
    const { turn, sent } = turnWith(0, { number: 2, messages: sends(steps) });
    await keeper.ask(turn);
    expect(sent).toEqual(expected);
  });
});

test.each<[string, Partial<Start>, State]>([
  ["it is turned off by itself", { window: { ...facts(48_000), auto: false } }, {}],
  ["all of it is turned off", { window: { ...facts(48_000), auto: false, compact: false } }, {}],
  ["the process is a fork beside another", { fork: {} as NonNullable<Start["fork"]> }, {}],
  ["it has failed three times", {}, { breaker: { failures: 3, accepted: [] } }],
  ["it has happened three times in ten requests", {}, { breaker: { failures: 0, accepted: [1, 2, 3] } }],
])("no summary is asked for where %s", async (_why, start, state) => {
  const { turn, sent } = turnWith(0, { messages: sends(8) });
  await new WindowKeeper({ window: facts(48_000), viewRequests: true, ...start }, state).ask(turn);
  expect(sent).toEqual(["main"]);
});

test("pins have a quarter of the window, and one beyond is BUDGET", async () => {
  const { turn } = turnWith(0, { messages: [{ role: "user", content: "go" }] });
  const pinned: number[] = [];
  const sys = {
    ...turn.sys,
    unit: (run: () => Promise<void>) => run(),
    appendMessage: async () => {},
    ctxPin: async (_cid: unknown, n: number) => pinned.push(n),
  } as unknown as Sys;
  const keeper = new WindowKeeper({ window: facts(40_000), viewRequests: true });
  // of the effective window; an estimate has a margin of a tenth until a reply has come
  const tokens = (share: number) => "x".repeat((32_000 / 1.1) * share * 4);
  await expect(keeper.pin({ ...turn, sys }, tokens(0.26))).rejects.toMatchObject({ code: "BUDGET" });
  expect(pinned).toEqual([]);
  await keeper.pin({ ...turn, sys }, tokens(0.24));
  expect(pinned).toEqual([2]);
});
