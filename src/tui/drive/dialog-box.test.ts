import type { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Keyboard } from "../../cli/terminal/keyboard.ts";
import { enterLine } from "../../cli/terminal/line-entry.ts";
import type { Press } from "../editor/keys.ts";
import { DialogBox } from "./dialog-box.ts";

function opened() {
  const clock = { now: 10_000 };
  const box = new DialogBox(
    () => ({ columns: 81, rows: 24 }),
    () => clock.now,
    () => {},
  );
  const heard: string[] = [];
  const open = () => {
    box.keys.on("data", (bytes) => heard.push(bytes.toString()));
    box.output.write("allow it? ", () => {});
  };
  return { box, clock, heard, open };
}

test("a row that is folded keeps its indent", () => {
  const { box } = opened();
  box.output.write("  why: a b c\n", () => {});
  expect(box.lines(10, "").map((line) => line.map(({ text }) => text).join(""))).toEqual([
    ...["  why: a b", "  c", ""],
  ]);
});

test("a dialog is read by half screens, and from end to end; a line that is typed has Home and End itself", () => {
  const { box, open } = opened();
  open();
  const at = (name: string, above: number): number => {
    box.scroll(name, 24);
    box.drawn({ above, back: box.back });
    return box.back;
  };
  box.drawn({ above: 30, back: 0 });
  expect([at("pageup", 18), at("pageup", 6), at("pageup", 0), at("pageup", 0)]).toEqual([12, 24, 30, 30]);
  expect([at("pagedown", 12), at("end", 30), at("home", 0)]).toEqual([18, 0, 30]);
  box.takesPastes = true;
  expect([box.scroll("end", 24), box.scroll("a", 24), box.back]).toEqual([false, false, 30]);
});

test("a dialog takes no key of its first 250 ms", () => {
  const { box, clock, open } = opened();
  expect(box.isSettled(false)).toBe(false);
  open();
  clock.now += 249;
  expect(box.isSettled(false)).toBe(false);
  clock.now += 1;
  expect(box.isSettled(false)).toBe(true);
});

test("a text under way is typed to its end, Enter included, before the dialog takes a key", () => {
  const { box, clock, open } = opened();
  box.passed();
  clock.now += 600;
  open();
  for (const pause of [300, 900, 999]) {
    clock.now += pause;
    expect(box.isSettled(true)).toBe(false);
    box.passed();
  }
  // sent by Enter: the editor is empty
  expect(box.isSettled(false)).toBe(true);
  clock.now += 1_000;
  expect(box.isSettled(true)).toBe(true);
});

test("a paste is typed into a line, and answers no question", () => {
  const { box, heard, open } = opened();
  const unread: Press[] = [];
  box.onUnread = (press) => unread.push(press);
  open();
  box.press({ kind: "paste", text: "y" });
  expect(heard).toEqual([]);
  expect(unread).toEqual([{ kind: "paste", text: "y" }]);
  box.takesPastes = true;
  box.press({ kind: "paste", text: "sk-1" });
  expect(heard).toEqual(["sk-1"]);
});

test("what arrives with the Enter that ends a line is not lost: it goes where keys go then, as it was typed", async () => {
  const { box } = opened();
  const unread: Press[] = [];
  box.onUnread = (press) => unread.push(press);
  const answer = (async () => {
    const { signal } = new AbortController();
    using keyboard = new Keyboard(box.keys, () => {});
    await keyboard.open(AbortSignal.abort());
    const write = (text: string): Promise<void> => new Promise((done) => void box.output.write(text, done));
    return await enterLine({ keyboard, write }, { prompt: "Key: ", initial: "" }, signal);
  })();
  await new Promise(setImmediate);
  const after: Press[] = [
    { kind: "text", text: "hello" },
    { kind: "key", name: "ctrl+a" },
    { kind: "key", name: "enter" },
  ];
  for (const press of [{ kind: "text", text: "sk-1" }, { kind: "key", name: "enter" }, ...after] as Press[])
    box.press(press);
  expect(await answer).toBe("sk-1");
  expect(unread).toEqual(after);
});

test("a dialog that follows another at once has its rows to itself, and takes no key of its first 250 ms", () => {
  const { box, clock, heard, open } = opened();
  open();
  clock.now += 300;
  expect(box.isSettled(false)).toBe(true);
  // answered: the next one opens before anything is drawn
  (box.keys as unknown as EventEmitter).removeAllListeners("data");
  box.keys.on("data", (bytes) => heard.push(bytes.toString()));
  expect(box.isSettled(false)).toBe(false);
  box.output.write("and this? ", () => {});
  expect(box.lines(80, "").map((line) => line.map(({ text }) => text).join(""))).toEqual(["and this? "]);
  clock.now += 249;
  expect(box.isSettled(false)).toBe(false);
  clock.now += 1;
  expect(box.isSettled(false)).toBe(true);
});

test("an answered question of several is one line above the next, which takes no key of its first 250 ms", () => {
  const { box, clock, open } = opened();
  open();
  box.output.write("Colour: Which?\n  1. red\n  2. blue\n1-2: 1\n", () => {});
  clock.now += 300;
  box.asking.onAnswered("Colour: Which?", "red");
  box.output.write("Size: How big?\n", () => {});
  const shown = () => box.lines(80, "").map((line) => line.map(({ text }) => text).join(""));
  expect(shown()).toEqual(["Colour: Which? → red", "Size: How big?", ""]);
  expect(box.isSettled(false)).toBe(false);
  clock.now += 250;
  expect(box.isSettled(false)).toBe(true);
  box.asking.onAnswered(`Why: ${"so many words ".repeat(20)}`, "because");
  expect(shown()[1]).toMatch(/^Why: so many .* → because$/);
});
