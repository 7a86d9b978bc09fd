/** Views of a context: what a move may do, and that no sequence of moves tears, repeats or loses a message. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { ContextMove } from "../../abi/context.ts";
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { bytes } from "../testing/test-kernel.ts";
import { ContextSpaces } from "./spaces.ts";

const BOUNDARY = { layer: "full", trigger: "auto", before: 9, after: 1 } as const;

const user = (content: string): ContextMessage => ({ role: "user", content });
const call = (id: string): ContextMessage => ({
  role: "assistant",
  content: "",
  blocks: [{ type: "tool_use", id, name: "view", input: {} }],
});
const result = (id: string): ContextMessage => ({ role: "tool", content: `result ${id}`, tool_call_id: id });

let spaces: ContextSpaces;
let cid: CtxId;
const contents = () => spaces.prompt(cid).messages.map(({ content }) => content);
const move = (wish: Partial<ContextMove>) => {
  const { head: from, view } = spaces.view(cid);
  const { keep, clears, tailFrom } = view;
  return spaces.move(cid, { from, keep, clears, tailFrom, boundary: BOUNDARY, ...wish });
};
const refused = (wish: Partial<ContextMove>) =>
  expect(() => move(wish)).toThrow(expect.objectContaining({ code: "INVALID" }));

/** 1 intent, 2 call a, 3 its result, 4 words of the user, 5 call b, 6 its result. */
beforeEach(() => {
  spaces = new ContextSpaces();
  cid = spaces.alloc(64);
  for (const message of [user("intent"), call("a"), result("a"), user("words"), call("b"), result("b")])
    spaces.append(cid, message);
});

describe("move()", () => {
  test("shows the summary, what is kept, then the tail; later messages follow", () => {
    move({
      put: "summary",
      keep: [
        [1, 1],
        [4, 4],
      ],
      tailFrom: 5,
    });
    spaces.append(cid, user("next"));
    expect(contents()).toEqual(["summary", "intent", "words", "", "result b", "next"]);
    expect(spaces.view(cid)).toMatchObject({ head: 1, records: 8, numbers: [7, 1, 4, 5, 6, 8], undoable: 1 });
  });

  test("a second summary takes the place of the first, or none does", () => {
    move({ put: "one", tailFrom: 5 });
    move({ tailFrom: 7 });
    expect(contents()).toEqual(["one"]);
    move({ put: "two", tailFrom: 8 });
    expect(contents()).toEqual(["two"]);
    move({ put: null });
    expect(contents()).toEqual([]);
  });

  test("clears results; the other messages stay the same objects", () => {
    const before = spaces.prompt(cid).messages;
    move({ clears: [{ n: 3 }, { n: 6, keep: 3 }] });
    const after = spaces.prompt(cid).messages;
    expect(after[2]).toEqual({ ...result("a"), content: "[Old tool result content cleared]" });
    expect(after[5]?.content).toBe("result b");
    spaces.append(cid, call("c"));
    spaces.append(cid, { ...result("c"), content: `${"line\n".repeat(400)}exit 1` });
    const clears = [{ n: 3 }, { n: 6, keep: 3 }];
    move({ clears: [...clears, { n: 8, keep: 1_000 }] });
    move({ clears: [...clears, { n: 8, keep: 10 }] });
    const short = "line\nline\n\n[The rest of this result was cleared]\nexit 1";
    expect(spaces.prompt(cid).messages[7]?.content).toBe(short);
    refused({ clears: [...clears, { n: 8, keep: 11 }] });
    for (const at of [0, 1, 3, 4]) expect(after[at]).toBe(before[at]);
    move({ clears: [...clears, { n: 8, keep: 10 }], keep: [[1, 3]], tailFrom: 5 });
    expect(spaces.prompt(cid).messages[2]).toBe(after[2]);
  });

  test("takes the pictures of a message of the user out of view; its words stay, whole", () => {
    const media = [{ type: "image", media_type: "image/png", data: "AAAA" }] as const;
    spaces.append(cid, { ...user("look"), media });
    refused({ clears: [{ n: 7 }] });
    refused({ clears: [{ n: 7, keep: 3 }] });
    refused({ clears: [{ n: 1, keep: 99 }] });
    move({ clears: [{ n: 7, keep: 4 }] });
    expect(spaces.prompt(cid).messages[6]).toEqual(user("look"));
    move({ clears: [{ n: 3 }, { n: 7, keep: 4 }] });
    refused({ clears: [{ n: 3 }] });
    expect(spaces.prompt(cid).messages[6]).toEqual(user("look"));
  });

  test.each<[string, Partial<ContextMove>]>([
    ["a result without its call", { keep: [[3, 3]], tailFrom: 5 }],
    ["a call without its result", { keep: [[1, 2]], tailFrom: 5 }],
    ["a tail that begins with a result", { tailFrom: 6 }],
    [
      "ranges out of order",
      {
        keep: [
          [4, 4],
          [1, 1],
        ],
        tailFrom: 5,
      },
    ],
    [
      "a range twice",
      {
        keep: [
          [1, 3],
          [3, 4],
        ],
        tailFrom: 5,
      },
    ],
    ["a range that reaches into the tail", { keep: [[1, 5]], tailFrom: 5 }],
    ["a range that ends before it begins", { keep: [[4, 1]], tailFrom: 5 }],
    ["a tail before the first message", { tailFrom: 0 }],
    ["a tail after the next message", { tailFrom: 8 }],
    ["no whole numbers", { keep: [[1.5, 2]], tailFrom: 5 }],
    ["a cleared message of the user", { clears: [{ n: 1 }] }],
    ["a result cleared twice", { clears: [{ n: 3 }, { n: 3 }] }],
    ["a cleared result that is not in view", { clears: [{ n: 9 }] }],
    ["a summary that is too long", { put: "x".repeat(900_001), tailFrom: 5 }],
  ])("%s is INVALID and moves nothing", (_name, wish) => {
    const before = contents();
    refused(wish);
    expect([contents(), spaces.view(cid).head]).toEqual([before, 0]);
  });

  test("what has left the view does not come back, nor what was cleared", () => {
    move({ put: "summary", tailFrom: 5, clears: [{ n: 6 }] });
    refused({ keep: [[1, 1]] });
    refused({ clears: [] });
  });

  test("a view that has moved meanwhile is CONFLICT", () => {
    move({ put: "summary", tailFrom: 5 });
    const late = { from: 0, keep: [], clears: [], tailFrom: 7, boundary: BOUNDARY };
    expect(() => spaces.move(cid, late)).toThrow(expect.objectContaining({ code: "CONFLICT" }));
  });

  test("a message is replaced by its place in the view, and stays so", () => {
    move({ put: "summary", keep: [[4, 4]], tailFrom: 5 });
    expect(spaces.write(cid, 2, bytes(JSON.stringify(user("new words")))).replaced).toBe(4);
    expect(contents()).toEqual(["summary", "new words", "", "result b"]);
  });
});

describe("a summary of a part", () => {
  const partial = { ...BOUNDARY, layer: "partial" } as const;

  test("stands where its messages were; the messages before it stay the same objects, and the first summary stays", () => {
    const before = spaces.prompt(cid).messages;
    move({ put: "later", keep: [[1, 3]], tailFrom: 7, behind: 3, boundary: partial });
    spaces.append(cid, user("next"));
    expect(contents()).toEqual(["intent", "", "result a", "later", "next"]);
    for (const at of [0, 1, 2]) expect(spaces.prompt(cid).messages[at]).toBe(before[at]);
    move({ put: "earlier", keep: [], tailFrom: 8 });
    expect(contents()).toEqual(["earlier", "later", "next"]);
    move({ boundary: { ...BOUNDARY, layer: "micro" } });
    expect(contents()).toEqual(["earlier", "later", "next"]);
    expect(spaces.view(cid).view.folds).toEqual([{ n: 7, after: 3 }]);
    move({ put: "all", keep: [], tailFrom: 10, folds: [] });
    expect(contents()).toEqual(["all"]);
  });

  test("of two behind the same message, the later one is the later one", () => {
    move({ put: "one", keep: [[1, 1]], tailFrom: 4, behind: 1, boundary: partial });
    move({ put: "two", keep: [[1, 1]], tailFrom: 5, behind: 1, boundary: partial });
    expect(contents()).toEqual(["intent", "one", "two", "", "result b"]);
  });

  test("is undone, and the summary that was made goes with it", () => {
    const before = new Map([1, 2, 3, 4, 5, 6].map((n, i) => [n, spaces.prompt(cid).messages[i]!]));
    move({ put: "later", keep: [[1, 3]], tailFrom: 7, behind: 3, boundary: partial });
    spaces.append(cid, user("next"));
    const missing = spaces.missing(cid, 1);
    expect(missing).toEqual([4, 5, 6]);
    spaces.undo(cid, { from: 1 }, new Map(missing.map((n) => [n, before.get(n)!])));
    expect(contents()).toEqual(["intent", "", "result a", "words", "", "result b", "next"]);
  });

  test.each<[string, Partial<ContextMove>]>([
    ["between a call and its result", { put: "later", behind: 2 }],
    ["at a place, but without a text", { behind: 3 }],
    ["at no whole number", { put: "later", behind: 1.5 }],
    ["that is not in view", { folds: [9] }],
    ["without what is pinned", { put: "later", keep: [[1, 1]], tailFrom: 5, behind: 1 }],
  ])("%s is INVALID", (_name, wish) => {
    spaces.pin(cid, 4, { each: 1_000, all: 2_000 });
    refused(wish);
    expect(spaces.view(cid).head).toBe(0);
  });
});

test("undo() has the messages of before and those added since; what is not in memory is named", () => {
  const [before, written] = [spaces.prompt(cid).messages, result("b")];
  move({ put: "summary", keep: [[4, 4]], tailFrom: 5, clears: [{ n: 6 }] });
  spaces.append(cid, user("next"));
  expect(spaces.missing(cid, 1)).toEqual([1, 2, 3, 6]);
  const read = new Map([1, 2, 3].map((n) => [n, before[n - 1] as ContextMessage]));
  expect(() => spaces.undo(cid, { from: 1 }, read)).toThrow("message 6 was not kept");
  spaces.undo(cid, { from: 1 }, new Map([...read, [6, written]]));
  expect(spaces.prompt(cid).messages).toEqual([...before, user("next")]);
  expect(() => spaces.missing(cid, 2)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});

const anyMove = fc.record({
  put: fc.constantFrom(undefined, null, "summary"),
  keep: fc.array(fc.tuple(fc.nat(14), fc.nat(14)), { maxLength: 4 }),
  tailFrom: fc.integer({ min: 0, max: 16 }),
  clears: fc.array(fc.record({ n: fc.nat(14) }), { maxLength: 3 }),
  behind: fc.constantFrom(undefined, 1, 3, 4, 6),
});

test("no accepted move tears a pair, repeats a message or shows one that had left", () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.array(anyMove, { maxLength: 4 }),
      fc.array(fc.constantFrom("u", "c"), { maxLength: 6 }),
      (moves, more) => {
        spaces = new ContextSpaces();
        cid = spaces.alloc(64);
        spaces.append(cid, user("intent"));
        for (const [i, kind] of ["c", "u", "c", ...more].entries())
          for (const each of kind === "u" ? [user(`u${i}`)] : [call(`c${i}`), result(`c${i}`)])
            spaces.append(cid, each);
        for (const { put, keep, behind, ...wish } of moves) {
          const before = new Set(spaces.view(cid).numbers);
          try {
            move({
              ...wish,
              keep: keep.map(([a, b]) => [a, a + b] as const),
              ...(put === undefined ? {} : { put }),
              ...(typeof put !== "string" || behind === undefined ? {} : { behind }),
            });
          } catch (error) {
            expect(error).toMatchObject({ code: "INVALID" });
            continue;
          }
          accepted++;
          const { numbers, view } = spaces.view(cid);
          expect(new Set(numbers).size).toBe(numbers.length);
          const own = [view.put, ...(view.folds ?? []).map((fold) => fold.n)];
          for (const n of numbers) expect(before.has(n) || own.includes(n)).toBe(true);
          const { messages } = spaces.prompt(cid);
          for (const [i, { role }] of messages.entries())
            if (role === "tool") expect(messages[i - 1]?.role).toBe("assistant");
          const calls = messages.flatMap(({ blocks = [] }) =>
            blocks.flatMap((b) => (b.type === "tool_use" ? [b.id] : [])),
          );
          const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
          expect(results).toEqual(calls);
        }
      },
    ),
    { numRuns: Number(process.env.CRUX_TEST_MOVES ?? 3_000) },
  );
  expect(accepted).toBeGreaterThan(100);
});

describe("pin()", () => {
  const BOUNDS = { each: 1_000, all: 2_000 };
  const noPin = (n: number, code: string, bounds = BOUNDS) =>
    expect(() => spaces.pin(cid, n, bounds)).toThrow(expect.objectContaining({ code }));

  test("keeps a message and its pair in every view, as they were written, until it is unpinned", () => {
    spaces.pin(cid, 3, BOUNDS);
    expect(spaces.view(cid).pins).toEqual([3]);
    refused({ put: "summary", tailFrom: 4 });
    refused({ put: "summary", keep: [[2, 3]], tailFrom: 4, clears: [{ n: 3 }] });
    refused({ put: null, keep: [], clears: [], tailFrom: 7 });
    move({ put: "summary", keep: [[2, 3]], tailFrom: 7 });
    expect(contents()).toEqual(["summary", "", "result a"]);
    spaces.unpin(cid, 3);
    move({ put: "again", keep: [], tailFrom: 8 });
    expect(contents()).toEqual(["again"]);
  });

  test("refuses what is not in view, a summary, and what is too large; no pin is dropped for it", () => {
    move({ put: "summary", tailFrom: 4 });
    noPin(1, "NOT_FOUND");
    noPin(7, "INVALID");
    noPin(4, "BUDGET", { each: 5, all: 100 });
    spaces.pin(cid, 4, BOUNDS);
    noPin(6, "BUDGET", { each: 100, all: 15 });
    expect(spaces.view(cid).pins).toEqual([4]);
    expect(() => spaces.unpin(cid, 6)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

test("whatever moves are accepted: pins stay as they were written, and undoing has the same bytes again", () => {
  let undone = 0;
  const kinds = fc.array(fc.constantFrom("u", "c"), { minLength: 2, maxLength: 6 });
  const pins = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 2 });
  const likely = fc.record({
    put: fc.constantFrom(undefined, "summary"),
    keep: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(3)), { maxLength: 1 }),
    tailFrom: fc.integer({ min: 1, max: 12 }),
    clears: fc.array(fc.record({ n: fc.integer({ min: 1, max: 9 }) }), { maxLength: 1 }),
    behind: fc.constantFrom(undefined, undefined, 1, 2, 3),
  });
  fc.assert(
    fc.property(fc.array(likely, { maxLength: 5 }), kinds, pins, (moves, more, wanted) => {
      spaces = new ContextSpaces();
      cid = spaces.alloc(64);
      const written = new Map<number, ContextMessage>();
      const append = (message: ContextMessage) => {
        spaces.append(cid, message);
        written.set(spaces.view(cid).records, message);
      };
      for (const [i, kind] of more.entries())
        for (const each of kind === "u" ? [user(`u${i}`)] : [call(`c${i}`), result(`c${i}`)]) append(each);
      for (const n of wanted) if (written.has(n)) spaces.pin(cid, n, { each: 1_000, all: 9_000 });
      for (const [i, { put, keep, behind, ...wish }] of moves.entries()) {
        const before = spaces.prompt(cid).messages;
        try {
          const ranges = keep.map(([a, b]) => [a, a + b] as const);
          const place = behind === undefined ? {} : { behind };
          move({ ...wish, keep: ranges, ...(put === undefined ? {} : { put, ...place }) });
        } catch {
          continue;
        }
        const { records, numbers } = spaces.view(cid);
        if (!written.has(records)) written.set(records, user("summary"));
        const { messages } = spaces.prompt(cid);
        for (const n of spaces.view(cid).pins) expect(messages[numbers.indexOf(n)]).toEqual(written.get(n));
        if (i % 2 === 0) continue;
        append(user("since"));
        const { head: from } = spaces.view(cid);
        const read = new Map(spaces.missing(cid, from).map((n) => [n, written.get(n) as ContextMessage]));
        spaces.undo(cid, { from }, read);
        expect(JSON.stringify(spaces.prompt(cid).messages)).toBe(JSON.stringify([...before, user("since")]));
        undone++;
      }
    }),
    { numRuns: Number(process.env.CRUX_TEST_MOVES ?? 4_000), seed: 1405 },
  );
  expect(undone).toBeGreaterThan(100);
});

test("undo() whose view would not fit is CONFLICT with the numbers, and moves nothing", () => {
  const before = new Map([1, 2, 3, 4].map((n, i) => [n, spaces.prompt(cid).messages[i] as ContextMessage]));
  move({ put: "summary", tailFrom: 5 });
  spaces.append(cid, user("since"));
  const bounds = { before: 100, beside: 900, ratio: 1, most: 900 };
  expect(() => spaces.undo(cid, { from: 1, bounds }, before)).toThrow(
    expect.objectContaining({
      code: "CONFLICT",
      message: expect.stringMatching(/has about \d+ tokens, and at most 900 fit/),
    }),
  );
  expect([contents(), spaces.view(cid).head]).toEqual([["summary", "", "result b", "since"], 1]);
  const body = spaces.undo(cid, { from: 1, bounds: { ...bounds, most: 9_000 } }, before);
  expect(body).toMatchObject({ undo: true, before: 100 });
  expect(contents()).toEqual(["intent", "", "result a", "words", "", "result b", "since"]);
});

test("a pin has its bytes after ten summaries, and what was said before the last of them is known as such", () => {
  const written = spaces.prompt(cid).messages[2];
  spaces.pin(cid, 3, { each: 1_000, all: 2_000 });
  expect(spaces.sinceCut(cid)).toBeNull();
  for (let n = 1; n <= 10; n++) {
    spaces.append(cid, user(`words ${n}`));
    move({ put: `summary ${n}`, keep: [[2, 3]], tailFrom: spaces.view(cid).records + 1 });
    expect(spaces.sinceCut(cid)).toEqual([]);
  }
  expect(contents()).toEqual(["summary 10", "", "result a"]);
  expect(spaces.prompt(cid).messages[2]).toEqual(written);
  spaces.append(cid, user("next"));
  move({ clears: [], boundary: { ...BOUNDARY, layer: "micro" } });
  expect(spaces.sinceCut(cid)).toEqual([user("next")]);
  // what leaves the view without a summary is not known from hearsay
  move({ boundary: { ...BOUNDARY, layer: "snip" } });
  expect(spaces.sinceCut(cid)).toEqual([user("next")]);
});
