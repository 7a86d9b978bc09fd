import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WireEvent } from "../abi/wire-events.ts";
import { pressOf } from "./editor/keys.ts";
import { Notices } from "./notices.ts";

const ASK = { event: "ask" } as WireEvent;
const IDLE = { event: "idle" } as WireEvent;
const FOCUS = { in: "\x1b[I", out: "\x1b[O" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function notices(env: Record<string, string> = {}) {
  const sent: string[] = [];
  const made = new Notices(
    (text) => sent.push(text),
    () => Date.now(),
    env,
  );
  const key = (text: string): boolean => {
    const press = pressOf({ kind: "key", text });
    return press === undefined ? false : made.saw(press);
  };
  return { made, sent, key };
}

test("the bell rings only while the terminal has not the focus, or after a minute without keys", () => {
  const { made, sent, key } = notices();
  made.event(ASK);
  expect(sent).toEqual([]);
  expect(key(FOCUS.out)).toBe(true);
  made.event(ASK);
  expect(sent).toEqual(["\x07"]);
  expect([key(FOCUS.in), key("a")]).toEqual([true, false]);
  vi.advanceTimersByTime(59_999);
  made.event(ASK);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(1);
  made.event(ASK);
  expect(sent).toHaveLength(2);
});

test("50 in a second are one and a count, each kind for itself", () => {
  const { made, sent, key } = notices({ TERM_PROGRAM: "WezTerm" });
  key(FOCUS.out);
  for (let n = 0; n < 50; n++) made.event(ASK);
  made.event(IDLE);
  expect(sent).toEqual(["\x1b]9;Crux: a question waits for you\x07", "\x1b]9;Crux: the answer is there\x07"]);
  vi.advanceTimersByTime(10_000);
  expect(sent.slice(2)).toEqual(["\x1b]9;Crux: a question waits for you (49 more)\x07"]);
  vi.advanceTimersByTime(60_000);
  expect([sent.length, vi.getTimerCount()]).toEqual([3, 0]);
});

test.each([
  [{ TERM: "xterm-kitty" }, "\x1b]99;;Crux: the answer is there\x1b\\"],
  [{ TERM_PROGRAM: "iTerm.app", TMUX: "/tmp/tmux" }, "\x07"],
])("in %j a notice is %j", (env, bytes) => {
  const { made, sent, key } = notices(env);
  key(FOCUS.out);
  made.event(IDLE);
  expect(sent).toEqual([bytes]);
  made[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test("whoever wants none gets none", () => {
  const { made, sent, key } = notices();
  made.isOn = false;
  key(FOCUS.out);
  made.event(ASK);
  expect(sent).toEqual([]);
});

test("with a desktop notices go there, and to the terminal where it cannot show them", async () => {
  const { made, sent, key } = notices();
  key(FOCUS.out);
  const shown: string[] = [];
  made.toDesktop = async (words) => shown.push(words) === 1;
  made.event(ASK);
  await vi.advanceTimersByTimeAsync(0);
  expect([shown, sent]).toEqual([["a question waits for you"], []]);
  made.event(IDLE);
  await vi.advanceTimersByTimeAsync(0);
  expect([shown.at(-1), sent]).toEqual(["the answer is there", ["\x07"]]);
});
