import { expect, test } from "vitest";
import { parseKeys } from "../keys.ts";
import { keepInSight, onKey, type TopAction, type TopView, topView } from "./view.ts";

const START = topView({ sort: "rate", showsAll: false });
const PIDS = Array.from({ length: 100 }, (_, at) => at + 1);
const PAGE = 10;

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const PAGE_UP = "\x1b[5~";
const PAGE_DOWN = "\x1b[6~";
const HOME = "\x1b[H";
const END = "\x1b[F";
const ESCAPE = "\x1b";

function press(keys: string, view: TopView = START, pids: readonly number[] = PIDS) {
  let action: TopAction = { kind: "none" };
  for (const key of parseKeys(keys)) ({ view, action } = onKey(view, key, { pids, page: PAGE }));
  return { view, action };
}
const place = ({ view }: { view: TopView }) => [view.selected, view.offset];

test("nothing is chosen until an arrow chooses what is on top of the screen", () => {
  expect(place(press(""))).toEqual([undefined, 0]);
  expect(place(press(DOWN))).toEqual([1, 0]);
  expect(place(press(PAGE_DOWN + PAGE_DOWN + DOWN))).toEqual([21, 20]);
  expect(place(press(UP))).toEqual([1, 0]);
});

test("the cursor moves inside the screen, which moves with it, and both stay on the table", () => {
  expect(place(press(DOWN.repeat(10)))).toEqual([10, 0]);
  expect(place(press(DOWN.repeat(11)))).toEqual([11, 1]);
  expect(place(press(DOWN.repeat(11) + UP.repeat(5)))).toEqual([6, 1]);
  expect(place(press(DOWN + END))).toEqual([100, 90]);
  expect(place(press(DOWN + END + DOWN))).toEqual([100, 90]);
  expect(place(press(DOWN + END + HOME))).toEqual([1, 0]);
  expect(place(press(DOWN + PAGE_DOWN + PAGE_UP + PAGE_UP))).toEqual([1, 0]);
  expect(place(press(END))).toEqual([undefined, 90]);
  expect(place(press(DOWN, START, []))).toEqual([undefined, 0]);
});

test("the chosen process is followed; where it is gone, its place is chosen", () => {
  const { view } = press(DOWN.repeat(5));
  expect(place({ view: keepInSight(view, { pids: PIDS.toReversed(), page: PAGE }) })).toEqual([5, 86]);
  expect(
    place({
      view: keepInSight(view, { pids: PIDS.filter((pid) => pid !== 5), page: PAGE }),
    }),
  ).toEqual([6, 0]);
  expect(place({ view: keepInSight(view, { pids: [1, 2], page: PAGE }) })).toEqual([2, 0]);
  expect(place({ view: keepInSight(view, { pids: [], page: PAGE }) })).toEqual([undefined, 0]);
  expect(place({ view: keepInSight(press(END).view, { pids: [1, 2, 3], page: PAGE }) })).toEqual([
    undefined,
    0,
  ]);
});

test("q and Ctrl-C leave, also out of a prompt", () => {
  for (const keys of ["q", "\x03", "/\x03", `${DOWN}k\x03`])
    expect(press(keys).action).toEqual({ kind: "quit" });
  expect(press("\x1a").action).toEqual({ kind: "suspend" });
  expect(press("\x0c").action).toEqual({ kind: "redraw" });
});

test("p, r and k act on the chosen process alone", () => {
  expect(press(`${DOWN}p`).action).toEqual({ kind: "signal", pid: 1, signal: 4 });
  expect(press(`${DOWN}${DOWN}r`).action).toEqual({ kind: "signal", pid: 2, signal: 5 });
  for (const key of ["p", "r", "k"]) {
    const { view, action } = press(key);
    expect(action).toEqual({ kind: "none" });
    expect([view.prompt.kind, view.message]).toEqual(["none", "choose a process first: up, down"]);
  }
});

test.each([
  ["1", 1],
  ["t", 1],
  ["2", 2],
  ["k", 2],
  ["3", 3],
  ["4", 4],
  ["5", 5],
])("k asks which signal: %s is %i", (key, signal) => {
  const { view } = press(`${DOWN}k`);
  expect(view.prompt).toEqual({ kind: "signal", pid: 1 });
  const sent = press(key, view);
  expect(sent.action).toEqual({ kind: "signal", pid: 1, signal });
  expect(sent.view.prompt.kind).toBe("none");
});

test("any other key sends none, and what was asked for a pid goes to that pid", () => {
  for (const key of [ESCAPE, "x", "q", "6", DOWN]) {
    const { view, action } = press(`${DOWN}k${key}`);
    expect([view.prompt.kind, action.kind]).toEqual(["none", "none"]);
  }
  const asked = keepInSight(press(`${DOWN}k`).view, { pids: [7, 8], page: PAGE });
  expect(press("1", asked, [7, 8]).action).toEqual({ kind: "signal", pid: 1, signal: 1 });
});

test("/ takes a text to look for: Enter keeps it, Escape shows all", () => {
  expect(press("/qs分\x7f").view).toMatchObject({ filter: "qs", prompt: { kind: "filter" } });
  expect(press("/qs\r").view).toMatchObject({ filter: "qs", prompt: { kind: "none" } });
  expect(press(`/qs${ESCAPE}`).view).toMatchObject({ filter: "", prompt: { kind: "none" } });
  expect(press(`${DOWN}/qs\r${ESCAPE}`).view).toMatchObject({ filter: "", selected: 1 });
  expect(press(`${DOWN}${ESCAPE}`).view.selected).toBeUndefined();
  expect(press(`/${"x".repeat(500)}`).view.filter).toHaveLength(100);
});

test("s, t and a change the order, the shape and what is shown", () => {
  expect(press("s").view.sort).toBe("tokens");
  expect(press("sssssss").view.sort).toBe("rate");
  expect(press("t").view.isTree).toBe(true);
  expect(press("a").view.showsAll).toBe(true);
  expect(press("x", { ...START, message: "PID 1: signal sent" }).view.message).toBe("");
});
