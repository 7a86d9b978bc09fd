import fc from "fast-check";
import { expect, test } from "vitest";
import { type Fate, fateOf, type Left, noticeOf } from "./fate.ts";

const HEADLESS = { isSession: false, isInteractive: false, onParentExit: "reparent" } as const;
const AGENT: Left = {
  kind: "agent",
  kept: HEADLESS,
  parent: undefined,
  isOrphan: false,
  isPaused: false,
  isDamaged: false,
  isMarked: false,
  isUnheard: false,
};

test.each<[string, Partial<Left>, Fate]>([
  ["a headless agent", {}, "goes_on"],
  ["one whose person could answer", { kept: { ...HEADLESS, isInteractive: true } }, "asks"],
  ["one that was paused", { isPaused: true }, "paused"],
  ["one that nobody may have heard of", { isUnheard: true }, "unheard"],
  ["one that nobody may have heard of, and that was paused", { isUnheard: true, isPaused: true }, "paused"],
  ["one that was being read", { isMarked: true }, "put_off"],
  ["one that was being read, and that was paused", { isMarked: true, isPaused: true }, "failed"],
  [
    "one that was being read, whose person could answer",
    { isMarked: true, kept: { ...HEADLESS, isInteractive: true } },
    "failed",
  ],
  ["one that is still put off", { isPaused: true, kept: { ...HEADLESS, isPutOff: true } }, "put_off"],
  ["one that was being read again", { isMarked: true, kept: { ...HEADLESS, isPutOff: true } }, "failed"],
  [
    "one that was being read again, whose parent waits",
    { isMarked: true, isPaused: true, kept: { ...HEADLESS, isPutOff: true }, parent: "goes_on" },
    "given_up",
  ],
  ["one whose history is damaged", { isDamaged: true, isMarked: true }, "damaged"],
  [
    "one whose history is damaged, below a parent that rests",
    { isDamaged: true, parent: "paused" },
    "damaged",
  ],
  ["one whose history is damaged, whose parent waits", { isDamaged: true, parent: "goes_on" }, "unreadable"],
  ["a session, whatever it did", { kept: { ...HEADLESS, isSession: true }, isPaused: true }, "rests"],
  [
    "the child of one that rests",
    { parent: "rests", kept: { ...HEADLESS, onParentExit: "terminate" } },
    "rests",
  ],
  ["one of which too little was kept", { kept: null }, "lost"],
  ["a program of the host", { kind: "native" }, "lost"],
  ["a service", { kind: "service" }, "lost"],
  ["a supervisor", { kind: "supervisor", kept: null }, "supervises"],
  ["an orphan", { isOrphan: true, parent: "lost" }, "goes_on"],
  [
    "an orphan that ends with its parent",
    { isOrphan: true, kept: { ...HEADLESS, onParentExit: "terminate" } },
    "lost",
  ],
])("fateOf() %s", (_what, left, fate) => {
  expect(fateOf({ ...AGENT, ...left })).toBe(fate);
});

test("fateOf() never lets one go on that is paused, damaged, marked or unheard of, or whose person could answer", () => {
  const anyLeft = fc.record({
    kind: fc.constantFrom("agent", "native", "service", "supervisor"),
    kept: fc.option(
      fc.record({
        isSession: fc.boolean(),
        isInteractive: fc.boolean(),
        onParentExit: fc.constantFrom("reparent", "terminate"),
      }),
    ),
    parent: fc.constantFrom(undefined, "lost", "rests", "paused", "goes_on"),
    isOrphan: fc.boolean(),
    isPaused: fc.boolean(),
    isDamaged: fc.boolean(),
    isMarked: fc.boolean(),
    isUnheard: fc.boolean(),
  });
  fc.assert(
    fc.property(anyLeft, (left) => {
      const isHeld =
        left.isPaused ||
        left.isDamaged ||
        left.isMarked ||
        left.isUnheard ||
        left.kept?.isInteractive !== false;
      if (isHeld || left.kept?.isSession === true) expect(fateOf(left as Left)).not.toBe("goes_on");
    }),
  );
});

test("noticeOf() says what it is about wherever the user decides", () => {
  const facts = (["asks", "unheard", "put_off", "failed", "damaged", "unreadable"] as const).map(
    (fate) => noticeOf(fate, 7).fact?.kind,
  );
  expect(facts).toEqual(["paused", "paused", "unread", "unread", "damaged", "damaged"]);
});
