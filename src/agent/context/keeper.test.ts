/** Which window counts: of the model that is asked, from its first request on. */
import { describe, expect, test } from "vitest";
import type { WindowFacts } from "../../abi/context.ts";
import type { LlmRequest } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { reply } from "../testing/replies.ts";
import { eightViews, facts, turnWith, viewed } from "../testing/turns.ts";
import { WindowKeeper } from "./keeper.ts";
import type { Turn } from "./turn.ts";

test("a summary that the model did not write is logged with the reason, as the refusal says", async () => {
  const { turn, logged } = turnWith(0, { summary: "" });
  const asked = new WindowKeeper({ window: facts(200_000), viewRequests: true }).compact(turn, "");
  await expect(asked).rejects.toThrow("the model wrote no summary: crux logs says why");
  expect(logged).toEqual([expect.stringMatching(/no summary was written: the reply has none \(end_turn\)/)]);
});

test("a fallback with a smaller window is never sent what does not fit into it", async () => {
  const keeper = new WindowKeeper({
    window: facts(200_000),
    fallbackWindows: [facts(32_000)],
    viewRequests: true,
  });
  const own = turnWith(0);
  await keeper.ask(own.turn);
  expect(own.moves).toEqual([]);
  const other = turnWith(1);
  await keeper.ask(other.turn);
  expect(other.moves.length).toBeGreaterThan(0);
  expect(other.sent.at(-1)).toBe("main");
});

test("a reply that the full window has cut off is asked for again with room for it, and at last given up", async () => {
  const { turn, moves, sent } = turnWith(0);
  let cuts = 1;
  const send: Turn["send"] = async (request) => {
    const whole = await turn.send(request);
    const isCut = request.purpose === "main" && cuts-- > 0;
    return isCut ? reply("so", { stopReason: "model_context_window_exceeded" }) : whole;
  };
  const keeper = () => new WindowKeeper({ window: facts(200_000), viewRequests: true });
  const { reply: whole } = await keeper().ask({ ...turn, send });
  expect(whole.blocks).toEqual([{ type: "text", text: "ok" }]);
  expect(moves.length).toBeGreaterThan(0);
  expect(sent.filter((purpose) => purpose === "main")).toHaveLength(2);
  cuts = Infinity;
  await expect(keeper().ask({ ...turn, send })).rejects.toMatchObject({ kind: "prompt_too_long" });
});

test("the window of the model of the process counts where that of a fallback is not known", async () => {
  const keeper = new WindowKeeper({ window: facts(200_000), fallbackWindows: [null], viewRequests: true });
  const { turn, moves } = turnWith(1);
  await keeper.ask(turn);
  expect(moves).toEqual([]);
});

test("whether automatic compaction has stopped, and that the user has undone a move, outlive the daemon", async () => {
  const state = { breaker: { failures: 3, accepted: [] } };
  const keeper = new WindowKeeper({ window: facts(32_000), viewRequests: true }, state);
  const { turn, sent } = turnWith(0);
  await keeper.ask(turn);
  expect(sent).toEqual(["main"]);
  expect(keeper.state).toEqual(state);
  expect(new WindowKeeper({ window: facts(32_000), viewRequests: true }, { held: true }).state).toEqual({
    held: true,
  });
});

describe("automatic compaction stops", () => {
  const open = () => new WindowKeeper({ window: facts(32_000), viewRequests: true });

  test("after three within ten requests: the fourth asks for no summary, and `thrash` is reported", async () => {
    const keeper = open();
    for (const number of [1, 5, 10]) {
      const { turn, sent } = turnWith(0, { number });
      await keeper.ask(turn);
      expect(sent).toEqual(["compact", "main"]);
    }
    const { turn, sent, moves, breakers } = turnWith(0, { number: 11 });
    await keeper.ask(turn);
    expect(sent).toEqual(["main"]);
    expect(moves.map(({ boundary }) => boundary.layer)).toContain("drop");
    expect(keeper.state).toEqual({ breaker: { failures: 0, accepted: [1, 5, 10] } });
    expect(breakers).toEqual([undefined]);
  });

  test("not after three that are further apart", async () => {
    const keeper = open();
    for (const number of [1, 5, 11, 12]) {
      const { turn, sent } = turnWith(0, { number });
      await keeper.ask(turn);
      expect(sent).toEqual(["compact", "main"]);
    }
  });

  test("after three summaries that free nothing; one that the user asks for closes it again", async () => {
    const keeper = open();
    const summary = "x".repeat(200_000);
    for (const number of [1, 20, 40]) {
      const { turn, sent } = turnWith(0, { number, summary });
      await keeper.ask(turn);
      expect(sent).toEqual(["compact", "main"]);
    }
    const { turn, sent } = turnWith(0, { number: 60 });
    await keeper.ask(turn);
    expect(sent).toEqual(["main"]);
    await keeper.compact(turn, "");
    await keeper.ask(turnWith(0, { number: 61 }).turn);
    expect(keeper.state).toEqual({ breaker: { failures: 0, accepted: [61] } });
  });
});

describe("the request for a summary", () => {
  const refusing = (times: number) => {
    const { turn, ...seen } = turnWith(0);
    const asked: Prompt["messages"][] = [];
    const made = new Map<LlmRequest, Prompt["messages"]>();
    let left = times;
    const make: Turn["make"] = (prompt, most) => {
      const whole = turn.make(prompt, most);
      made.set(whole.request, prompt.messages);
      return { ...whole, request: { ...whole.request, messages: prompt.messages as never } };
    };
    const send: Turn["send"] = async (request) => {
      const whole = await turn.send(request);
      if (request.purpose !== "compact") return whole;
      asked.push(request.messages as never);
      if (left-- <= 0) return whole;
      throw new LlmError({ kind: "prompt_too_long", message: "prompt is too long", device: "/dev/llm/a" });
    };
    return { turn: { ...turn, make, send }, asked, ...seen };
  };
  const keeper = () => new WindowKeeper({ window: facts(48_000), viewRequests: true });

  test("begins with the messages of the main request, byte for byte", async () => {
    const { turn, asked } = refusing(0);
    await new WindowKeeper({ window: facts(200_000), viewRequests: true }).compact(turn, "");
    expect(JSON.stringify(asked[0]?.slice(0, -1)) === JSON.stringify(eightViews)).toBe(true);
    expect(asked[0]?.at(-1)?.content).toContain("Write the summary");
  });

  test("is made shorter when it is refused as too long, and the summary says what it does not know", async () => {
    const { turn, asked, moves } = refusing(2);
    await keeper().compact(turn, "");
    const lengths = asked.map((each) => JSON.stringify(each).length);
    expect(lengths).toHaveLength(3);
    expect(lengths[1]).toBeLessThan(lengths[0] ?? 0);
    expect(lengths[2]).toBeLessThan(lengths[1] ?? 0);
    expect(moves).toHaveLength(1);
    expect(moves[0]?.put).toMatch(/\d+ earlier steps have left your view without a summary/);
  });

  test("fails after the fourth refusal, and the view stays", async () => {
    const { turn, asked, moves } = refusing(9);
    await expect(keeper().compact(turn, "")).rejects.toMatchObject({ code: "CONFLICT" });
    expect([asked.length, moves.length]).toEqual([4, 0]);
  });

  test("shows no images once it was refused", async () => {
    const media = [{ type: "image", media_type: "image/png", data: "AAAA" }] as const;
    const shown = eightViews.map((each, i) => (i === eightViews.length - 1 ? { ...each, media } : each));
    const { turn, asked } = refusing(1);
    await keeper().compact({ ...turn, prompt: { systemPrompt: "", messages: shown } }, "");
    expect(asked.map((each) => JSON.stringify(each).includes("AAAA"))).toEqual([true, false]);
    expect(JSON.stringify(asked[1])).toContain("[image]");
  });
});

test.each<[string, Partial<WindowFacts>, object]>([
  ["automatic compaction is off", { auto: false }, {}],
  ["all compaction is off", { auto: false, compact: false }, {}],
  ["it is a fork of another process", {}, { fork: {} }],
])("no summary is asked for where %s", async (_why, more, start) => {
  const { turn, sent } = turnWith(0);
  const window = { ...facts(32_000), ...more };
  await new WindowKeeper({ window, viewRequests: true, ...start }).ask(turn);
  expect(sent).toEqual(["main"]);
});

test.each<[string, string, readonly string[], readonly string[]]>([
  ["results that can be had again are cleared, and that is enough", "view", ["micro"], ["main"]],
  ["of other tools nothing is cleared, and a summary is written", "send", ["full"], ["compact", "main"]],
])(
  "with 160,000 tokens reported and some 20,000 of results since, before the request %s",
  async (_what, name, layers, purposes) => {
    const called = eightViews.map(({ blocks, ...each }) =>
      blocks === undefined ? each : { ...each, blocks: blocks.map((block) => ({ ...block, name }) as never) },
    );
    const keeper = new WindowKeeper({ window: { ...facts(200_000), maxOutput: 64_000 }, viewRequests: true });
    const first = turnWith(0);
    const send: Turn["send"] = async (request) => {
      const whole = await first.turn.send(request);
      return { ...whole, usage: { ...whole.usage, input_tokens: 160_000 } };
    };
    await keeper.ask({ ...first.turn, prompt: { systemPrompt: "", messages: called.slice(0, -2) }, send });
    expect([first.sent, first.moves]).toEqual([["main"], []]);
    const { turn, sent, moves } = turnWith(0, { number: 2 });
    await keeper.ask({ ...turn, prompt: { systemPrompt: "", messages: called } });
    expect(moves.map(({ boundary }) => boundary.layer)).toEqual(layers);
    expect(sent).toEqual(purposes);
  },
);

describe("while nothing is said for long", () => {
  const at = (ms: number, given = turnWith(0)) => {
    const sys = { ...given.turn.sys, now: () => ms } as Sys;
    return { ...given, turn: { ...given.turn, sys } };
  };
  const window = { ...facts(200_000), idleMinutes: 60 };

  test("old results are cleared before the next request, also after a restart, and not sooner", async () => {
    const keeper = new WindowKeeper({ window, viewRequests: true });
    const first = at(1_000);
    await keeper.ask(first.turn);
    expect(keeper.state).toEqual({ answeredAt: 1_000 });
    const soon = at(3_600_999);
    await keeper.ask(soon.turn);
    expect([first.moves, soon.moves]).toEqual([[], []]);
    const later = at(2 * 3_600_999);
    await new WindowKeeper({ window, viewRequests: true }, keeper.state).ask(later.turn);
    expect(later.moves.map(({ boundary }) => boundary.layer)).toEqual(["micro"]);
    expect(later.sent).toEqual(["main"]);
  });
});

describe("folding", () => {
  // results of this tool cannot be had again, so that they are not cleared first
  const asked = (id: string): ContextMessage[] =>
    viewed(id).map(({ blocks, ...each }) =>
      blocks === undefined ? each : { ...each, blocks: [{ type: "tool_use", id, name: "send", input: {} }] },
    );
  const long: readonly ContextMessage[] = [
    { role: "user", content: "read all" },
    ...Array.from({ length: 20 }, (_, i) => asked(`${i}`)).flat(),
  ];
  /** A turn of about 100,000 tokens. */
  const folding = (answer: string | Error) => {
    const given = turnWith(0);
    const models: string[] = [];
    const send: Turn["send"] = async (request) => {
      const whole = await given.turn.send(request);
      return { ...whole, usage: { ...whole.usage, input_tokens: 100_000 } };
    };
    const sys = {
      ...given.turn.sys,
      ctxView: async () => ({
        ...{ head: given.moves.length, records: long.length, undoable: 0, pins: [] },
        view: { put: null, keep: [], clears: [], tailFrom: 1 },
        numbers: long.map((_, i) => i + 1),
      }),
    } as Sys;
    const prompt: Prompt = { systemPrompt: "", messages: long };
    const aside: Turn["aside"] = async ({ model }) => {
      models.push(model);
      if (answer instanceof Error) throw answer;
      return reply(answer);
    };
    return { ...given, models, turn: { ...given.turn, sys, prompt, aside, send } };
  };
  const keeper = (window = 150_000, state = {}) =>
    new WindowKeeper({ window: { ...facts(window), collapse: true }, viewRequests: true }, state);

  test("a summary is staged beside the request from 60 % on, and committed from 80 % on without another request", async () => {
    const [roomy, staging] = [keeper(200_000), keeper()];
    const first = folding("all is read");
    await roomy.ask(first.turn);
    expect([first.models, roomy.state]).toEqual([[], undefined]);
    await staging.ask(first.turn);
    expect([first.models, first.sent, first.moves]).toEqual([["small"], ["main", "main"], []]);
    const { folding: kept } = staging.state ?? {};
    expect(kept?.staged).toMatchObject([{ summary: "all is read" }]);
    const full = folding("all is read");
    await keeper(135_000, staging.state).ask(full.turn);
    expect(full.moves.map(({ boundary, behind }) => [boundary.layer, behind])).toEqual([["collapse", 1]]);
    expect(full.sent).toEqual(["main"]);
  });

  test("after a refusal what is staged is committed first, once, and no summary is asked for", async () => {
    const { state } = await (async () => {
      const staging = keeper();
      await staging.ask(folding("all is read").turn);
      return staging;
    })();
    const { turn, sent, moves } = folding("more is read");
    let refusals = 1;
    const send: Turn["send"] = async (request) => {
      const whole = await turn.send(request);
      if (request.purpose !== "main" || refusals-- <= 0) return whole;
      throw new LlmError({ kind: "prompt_too_long", message: "prompt is too long", device: "/dev/llm/a" });
    };
    await keeper(150_000, state).ask({ ...turn, send });
    expect(moves[0]?.boundary.layer).toBe("collapse");
    expect([moves.every(({ boundary }) => boundary.layer === "collapse"), sent]).toEqual([
      true,
      ["main", "main"],
    ]);
  });

  test("a driver without a small model is asked for its own; three failures end it, and nothing else", async () => {
    const failing = keeper();
    const { turn, models, sent } = folding(new Error("no such model"));
    for (let i = 0; i < 6; i++) await failing.ask(turn);
    expect(models).toEqual(["small", "", "", ""]);
    expect(sent.filter((purpose) => purpose === "main")).toHaveLength(6);
    expect(failing.state?.folding).toMatchObject({ failures: 3 });
  });
});

describe("a request that is refused for its bytes", () => {
  const media = [{ type: "image", media_type: "image/png", data: "AAAA" }] as const;
  const failing = async (words: string, shown: (i: number) => boolean) => {
    const { turn, sent, moves } = turnWith(0);
    const pictures = eightViews.map((each, i) => (shown(i) ? { ...each, media } : each));
    const send: Turn["send"] = async (request) => {
      const whole = await turn.send(request);
      if (sent.length > 1) return whole;
      throw new LlmError({ kind: "prompt_too_long", status: 413, message: words, device: "/dev/llm/a" });
    };
    const keeper = new WindowKeeper({ window: facts(200_000), viewRequests: true });
    await keeper.ask({ ...turn, prompt: { systemPrompt: "", messages: pictures }, send });
    return { sent, moves, state: keeper.state };
  };
  const isLate = (i: number): boolean => i >= eightViews.length - 4;

  test("loses the images before the last two steps first; nothing is learnt of the window", async () => {
    const { sent, moves, state } = await failing("413: a web page: Request Entity Too Large", () => true);
    expect(sent).toEqual(["main", "main"]);
    expect(moves).toMatchObject([{ boundary: { layer: "micro", trigger: "reactive" } }]);
    expect(moves[0]?.clears.map(({ n }) => n)).toEqual(eightViews.slice(0, -4).map((_, i) => i + 1));
    expect(state).toBeUndefined();
  });

  test.each<[string, string, (i: number) => boolean]>([
    ["there are none", "request too large", () => false],
    ["they are of the last two steps", "request too large", isLate],
    ["it was for its tokens", "prompt is too long: 210000 tokens > 200000 maximum", () => true],
  ])("is summarised where %s", async (_why, words, shown) => {
    expect((await failing(words, shown)).sent).toEqual(["main", "compact", "main"]);
  });
});

describe("with notes of the session", () => {
  const NOTES = "## Goal: all is read\n## Now: at the end";
  const keeper = (state?: ConstructorParameters<typeof WindowKeeper>[1]) =>
    new WindowKeeper({ window: { ...facts(64_000), notes: true }, viewRequests: true }, state);
  const noted = async (answer: string, more: Partial<Turn> = {}) => {
    const own = turnWith(0);
    const asked: LlmRequest[] = [];
    const aside: Turn["aside"] = async (request) => {
      asked.push(request);
      return reply(answer);
    };
    const turn = { ...own.turn, aside, ...more };
    const kept = keeper();
    await kept.ask(turn);
    return { ...own, turn, asked, kept };
  };

  test("they are written beside a request, once, and take the place of a summary, also in a later daemon", async () => {
    const { turn, asked, kept, moves, sent } = await noted(NOTES);
    await kept.ask(turn);
    expect(asked.map(({ requestId, purpose }) => [requestId, purpose])).toEqual([["r-notes", "helper"]]);
    expect(kept.state?.notes).toMatchObject({ text: NOTES, upTo: eightViews.length });
    await keeper(kept.state).compact(turn, "");
    expect(moves.map(({ boundary }) => boundary.layer)).toEqual(["notes"]);
    expect(moves[0]?.put).toContain("## Now: at the end");
    expect(sent).toEqual(["main", "main"]);
  });

  test("what the user asks to pay attention to needs a summary; a message that they say nothing of stays in view", async () => {
    const first = await noted(NOTES);
    await first.kept.compact(first.turn, "the numbers");
    expect([first.sent.at(-1), first.moves[0]?.boundary.layer]).toEqual(["compact", "full"]);
    expect(first.kept.state?.notes).toBeUndefined();
    const second = await noted(NOTES);
    const old = { ...second.kept.state, notes: { text: NOTES, upTo: 3, failures: 0 } };
    await keeper(old).compact(second.turn, "");
    expect(second.moves.map(({ boundary, tailFrom }) => [boundary.layer, tailFrom])).toEqual([["notes", 4]]);
  });

  test("what is no use of an answer, or fails, leaves the summary to be written as ever", async () => {
    const bad = await noted("all is well");
    expect(bad.kept.state?.notes).toEqual({ text: "", upTo: 0, failures: 1 });
    const failing = await noted(NOTES, {
      aside: () => Promise.reject(new LlmError({ kind: "server", message: "x" })),
    });
    expect(failing.kept.state?.notes?.failures).toBe(1);
    await failing.kept.compact(failing.turn, "");
    expect(failing.moves.map(({ boundary }) => boundary.layer)).toEqual(["full"]);
  });
});
