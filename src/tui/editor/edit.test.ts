import { expect, test } from "vitest";
import { TypedReader } from "../../cli/terminal/typed.ts";
import { sentText } from "./buffer.ts";
import { cleared, continued, type Editing, edited, emptied, NEW, replaced } from "./edit.ts";
import { pressOf } from "./keys.ts";

/** The editor after these bytes of a terminal. */
function after(bytes: string, from: Editing = NEW): Editing {
  let now = from;
  for (const typed of new TypedReader().take(Buffer.from(bytes))) {
    const press = pressOf(typed);
    if (press !== undefined) now = edited(now, press) ?? now;
  }
  return now;
}

test.each([
  ["hello\x01X", "Xhello"],
  ["hello\x1b[D\x1b[DX", "helXlo"],
  ["one two\x1bbX", "one Xtwo"],
  ["one two\x17", "one "],
  ["one\x0atwo", "one\ntwo"],
  ["one\x1b\rtwo", "one\ntwo"],
  ["one\x1b[13;2utwo", "one\ntwo"],
  ["one two\x1b[1;5DX", "one Xtwo"],
  ["\x1b[200~a\rb\x1b[201~", "a\nb"],
  ["ab\x7f", "a"],
])("the bytes %j edit to %j", (bytes, text) => {
  expect(after(bytes).buffer.text).toBe(text);
});

test.each([
  ["\x1b[Z", "shift+tab"],
  ["\x1b[99;5u", "ctrl+c"],
  ["\x1b[27u", "escape"],
  ["\x1b[13;5u", "ctrl+enter"],
  ["\x1b[27;5;13~", "ctrl+enter"],
  ["\x1b[1;2B", "shift+down"],
  ["\x1bm", "alt+m"],
  ["\x0f", "ctrl+o"],
])("the sequence %j is %s", (bytes, name) => {
  const [typed] = new TypedReader().take(Buffer.from(bytes));
  expect(typed && pressOf(typed)).toEqual({ kind: "key", name });
});

test("the arrows go through earlier messages, and back to what was being typed", () => {
  const start = after("draft", { ...NEW, history: ["second", "first"] });
  const up = after("\x1b[A", start);
  expect(up.buffer.text).toBe("second");
  expect(after("\x1b[A\x1b[A", up).buffer.text).toBe("first");
  expect(after("\x1b[B", up).buffer.text).toBe("draft");
});

test("continued() makes of a backslash before Enter a line break; emptied() remembers a message once", () => {
  expect(continued(after("one\\"))?.buffer.text).toBe("one\n");
  expect(continued(after("one"))).toBeUndefined();
  const sent = emptied(after("same", { ...NEW, history: ["same"] }), "same");
  expect([sent.buffer.text, sent.history]).toEqual(["", ["same"]]);
});

test("ctrl+r in an empty editor looks for what is typed next, as in a shell", () => {
  const history = ["fix the test", "list files", "a bug"];
  const key = (name: string) => ({ kind: "key", name }) as const;
  const text = (words: string) => ({ kind: "text", text: words }) as const;
  const shown = (...presses: Parameters<typeof edited>[1][]) => {
    const end = presses.reduce<Editing>((now, press) => edited(now, press) ?? now, { ...NEW, history });
    return [end.buffer.text, end.query];
  };
  const begun = [key("ctrl+r"), text("fi")] as const;
  expect(shown(...begun)).toEqual(["fix the test", "fi"]);
  expect(shown(...begun, key("ctrl+r"))).toEqual(["list files", "fi"]);
  expect(shown(...begun, text("le"))).toEqual(["list files", "file"]);
  expect(shown(...begun, text("x"), key("space"), text("q"))).toEqual(["fix the test", "fix q"]);
  expect(shown(...begun, text("z"), key("backspace"))).toEqual(["fix the test", "fi"]);
  expect(shown(...begun, key("end"), text("!"))).toEqual(["fix the test!", undefined]);
  expect(shown(...begun, key("down"))).toEqual(["", undefined]);
});

test("ctrl+r brings back earlier messages with what was typed, one after the other, and ↓ what was typed", () => {
  const history = ["fix the test", "list files", "Fix a bug", "fixed"];
  const key = (name: string) => ({ kind: "key", name }) as const;
  const typed = replaced({ ...NEW, history }, "fix");
  const first = edited(typed, key("ctrl+r"))!;
  const second = edited(first, key("ctrl+r"))!;
  const third = edited(second, key("ctrl+r"))!;
  expect([first, second, third].map(({ buffer }) => buffer.text)).toEqual([
    ...["fix the test", "Fix a bug", "fixed"],
  ]);
  expect(edited(third, key("ctrl+r"))).toBeUndefined();
  expect(edited(first, key("down"))?.buffer.text).toBe("fix");
  // another key ends the search: the next one looks for the text as it is now
  const changed = edited(first, key("ctrl+w"))!;
  expect(edited(changed, key("ctrl+r"))?.buffer.text).toBe("fix the test");
});

test("a text that was cleared comes back with what was pasted into it", () => {
  const long = "line\n".repeat(40);
  const pasted = edited(NEW, { kind: "paste", text: long }) ?? NEW;
  const back = edited(cleared(pasted), { kind: "key", name: "ctrl+y" }) ?? NEW;
  expect(sentText(back.buffer)).toBe(long);
});
