import fc from "fast-check";
import { expect, test } from "vitest";
import { graphemesOf } from "../../cli/screen/text/width.ts";
import { paste } from "./buffer.ts";
import { type Editing, edited, NEW, replaced } from "./edit.ts";
import type { Press } from "./keys.ts";
import { selectedIn, VIM, type Vim, vimPressed } from "./vim.ts";

/** `|` is the cursor; keys in the order of typing, `<esc>`, `<up>` and the like by name. */
function typed(start: string, keys: string): { shown: string; vim: Vim; cut: string; presses: string[] } {
  const at = start.indexOf("|");
  let editing: Editing = replaced(NEW, start.replace("|", ""));
  editing = { ...editing, buffer: { ...editing.buffer, at } };
  let vim: Vim = { ...VIM, mode: "normal" };
  const presses: string[] = [];
  for (const [key, name] of keys.matchAll(/<(\w+)>|./gsu)) {
    const press: Press =
      name === undefined
        ? { kind: "text", text: key }
        : { kind: "key", name: name === "esc" ? "escape" : name };
    const next = vimPressed(vim, editing, press);
    ({ vim, editing } = next);
    if (next.press === undefined) continue;
    if (next.press.kind === "key") presses.push(next.press.name);
    editing = edited(editing, next.press) ?? editing;
  }
  const { text, at: now, cut } = editing.buffer;
  return { shown: `${text.slice(0, now)}|${text.slice(now)}`, vim, cut, presses };
}

test.each([
  ["|one two three", "w", "one |two three"],
  ["|one two three", "2we", "one two thre|e"],
  ["one two |three", "b", "one |two three"],
  ["one-|two x", "B", "|one-two x"],
  ["  o|ne", "0", "|  one"],
  ["  one|", "^", "  |one"],
  ["|one", "$", "on|e"],
  ["on|e", "l", "on|e"],
  ["|one", "h", "|one"],
  ["one\nt|wo\nsix", "gg", "|one\ntwo\nsix"],
  ["|one\ntwo\nsix", "G", "one\ntwo\n|six"],
  ["|one\ntwo\nsix", "2G", "one\n|two\nsix"],
  ["o|ne\ntwo", "j", "one\nt|wo"],
  ["|a, b, c", "f,", "a|, b, c"],
  ["|a, b, c", "f,;", "a, b|, c"],
  ["|a, b, c", "2f,,", "a|, b, c"],
  ["|a, b, c", "t,", "|a, b, c"],
  ["a, b, |c", "T,", "a, b,| c"],
  ["|日本 語", "w", "日本 |語"],
  ["|👍 b", "e", "👍 |b"],
])("in %s the motion %s leads to %s", (start, keys, shown) => {
  expect(typed(start, keys).shown).toBe(shown);
});

test.each([
  ["|one two", "x", "|ne two"],
  ["|one two", "3x", "| two"],
  ["one |two", "D", "one| "],
  ["|one two three", "dw", "|two three"],
  ["|one two three", "d2w", "|three"],
  ["one |two\nsix", "dw", "one| \nsix"],
  ["|one two", "cwsix<esc>", "si|x two"],
  ["one\nt|wo\nsix", "dd", "one\n|six"],
  ["one\nt|wo", "dd", "|one"],
  ["o|ne\ntwo\nsix", "2dd", "|six"],
  ["one\nt|wo\nsix", "dgg", "|six"],
  ["one\nt|wo\nsix", "ccx<esc>", "one\n|x\nsix"],
  ["one|\ntwo", "dj", "|"],
  ["one t|wo six", "diw", "one | six"],
  ["one t|wo six", "daw", "one |six"],
  ['say "o|ne two" so', 'ci"x<esc>', 'say "|x" so'],
  ["f(a, (|b), c)", "di(", "f(a, (|), c)"],
  ["f(a, |(b), c)", "da)", "f(a, |, c)"],
  ["f(a|, b)", "ci(x<esc>", "f(|x)"],
  ["a|bc", "rx", "a|xc"],
  ["|aBc", "3~", "Ab|C"],
  ["|one\n  two", "J", "one| two"],
  ["|one two", "yiww", "one |two"],
  ["|one two", "yw$p", "one twoone| "],
  ["|one\ntwo", "yyp", "one\n|one\ntwo"],
  ["one\nt|wo", "yyP", "one\n|two\ntwo"],
  ["|one\ntwo", "ddp", "two\n|one"],
  ["|one two", "dwu", "|one two"],
  ["|one two six", "dw.", "|six"],
  ["|one two six", "cwx<esc>w.", "x |x six"],
  ["|one", "A!<esc>.", "one!|!"],
  ["|one", "osix<esc>", "one\nsi|x"],
  ["|one", "Osix<esc>", "si|x\none"],
  ["  o|ne", "Ix<esc>", "  |xone"],
  ["|one", "2q", "|one"],
  ["|one", "d<esc>x", "|ne"],
  ["|👍🏽日本", "x", "|日本"],
])("of %s the keys %s make %s", (start, keys, shown) => {
  expect(typed(start, keys).shown).toBe(shown);
});

test.each([
  ["one |two six", "vey", "one |two six", "two"],
  ["one |two six", "ved", "one | six", "two"],
  ["one |two six", "vex", "one | six", "two"],
  ["one |two six", "vecx<esc>", "one |x six", "two"],
  ["one t|wo six", "viwd", "one | six", "two"],
  ["f(a, |b)", "vi(y", "f(|a, b)", "a, b"],
  ["one |two six", "vwohd", "one|ix", " two s"],
  ["|one two", "v$d", "|", "one two"],
  ["|one, two, six", "vf,;d", "| six", "one, two,"],
  ["one two |six", "v0d", "|ix", "one two s"],
  ["on|e\ntwo", "vjd", "o|n", "e\ntwo"],
  ["o|ne\ntwo\nsix", "Vjd", "|six", "one\ntwo\n"],
  ["one\nt|wo\nsix", "VGd", "|one", "two\nsix\n"],
  ["one\nt|wo\nsix", "Vcx<esc>", "one\n|x\nsix", "two\n"],
  ["one\nt|wo\nsix", "VyP", "one\n|two\ntwo\nsix", "two\n"],
  ["o|ne\n\n  two", "VG>", "|  one\n\n    two", ""],
  ["o|ne\n\n  two", "vG2>", "|    one\n\n      two", ""],
  ["   o|ne\n\t\ttwo", "Vj<", "| one\n\ttwo", ""],
  ["|👍🏽日本", "vld", "|本", "👍🏽日"],
  ["|one", "v<esc>x", "|ne", "o"],
  ["|one", "vvx", "|ne", "o"],
  ["|one two", "dwv<esc>u", "|one two", "one "],
])("in a visual mode, of %s the keys %s make %s and keep %j", (start, keys, shown, cut) => {
  const done = typed(start, keys);
  expect([done.shown, done.cut, done.vim.mode]).toEqual([shown, cut, "normal"]);
});

test("v and V lead from one visual mode to the other, and other keys keep their meaning there", () => {
  expect(typed("|one", "vV").vim.mode).toBe("visual line");
  expect(typed("|one", "Vv").vim.mode).toBe("visual");
  expect(typed("|one", "v<enter><tab>").presses).toEqual(["enter", "tab"]);
});

test("selectedIn() is what is selected, whichever end the cursor is at, and after the text has gone", () => {
  const buffer = { ...NEW.buffer, text: "one two\nsix", at: 4 };
  const of = (mode: Vim["mode"], anchor: number) => selectedIn({ ...VIM, mode, anchor }, buffer);
  expect(of("visual", 0)).toMatchObject({ from: 0, to: 5 });
  expect(of("visual", 6)).toMatchObject({ from: 4, to: 7 });
  expect(of("visual line", 9)).toMatchObject({ from: 0, to: 11 });
  expect(of("visual", 99)).toMatchObject({ from: 4, to: 11 });
  expect([of("normal", 0), selectedIn(undefined, buffer)]).toEqual([undefined, undefined]);
});

test("what is taken away or copied is what Ctrl-Y brings back", () => {
  expect(typed("|one two", "dw").cut).toBe("one ");
  expect(typed("one\nt|wo", "yy").cut).toBe("two\n");
});

test("keys that are not its own keep their meaning, in either mode", () => {
  expect(typed("|one", "<enter><escape><tab>").presses).toEqual(["enter", "escape", "tab"]);
  expect(typed("|one\ntwo", "k").presses).toEqual(["up"]);
  expect(typed("one\n|two", "j").presses).toEqual(["down"]);
  const inserting = typed("|one", "i<enter>a");
  expect([inserting.presses, inserting.vim.mode, inserting.shown]).toEqual([["enter"], "insert", "a|one"]);
});

test("a pasted text that stands as a mark is one character", () => {
  const { buffer } = { buffer: paste(NEW.buffer, "x\n".repeat(20)) };
  const vim: Vim = { ...VIM, mode: "normal" };
  const go = (keys: string) =>
    vimPressed(vim, { ...NEW, buffer }, { kind: "text", text: keys }).editing.buffer;
  expect(go("b").at).toBe(0);
  expect(go("hx").text).toBe("");
});

test("what arrives at once with the key that begins to insert is text, and a dot repeats it", () => {
  const normal: Vim = { ...VIM, mode: "normal" };
  const buffer = { ...replaced(NEW, "abc def").buffer, at: 6 };
  const { vim, editing, press } = vimPressed(normal, { ...NEW, buffer }, { kind: "text", text: "bcwXYZ" });
  expect([vim.mode, editing.buffer.text, press]).toEqual(["insert", "abc ", { kind: "text", text: "XYZ" }]);
  const left = vimPressed(vim, editing, { kind: "key", name: "escape" });
  const again = replaced(NEW, "one").buffer;
  const repeated = vimPressed(left.vim, { ...NEW, buffer: { ...again, at: 0 } }, { kind: "text", text: "." });
  expect(repeated.editing.buffer.text).toBe("XYZ");
});

test("no keys take the cursor out of the text or into a character", () => {
  const text = fc.stringMatching(/^[ab ,("\n日👍]{0,12}$/u);
  const keys = fc.string({
    unit: fc.constantFrom(...'vV<>hjklwbeWBE0^$gGfFtTdcyxXDCYsSiaIAoOpPuJ~r.;,23("日'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, keys, (start, pressed) => {
      const { shown } = typed(`|${start}`, pressed);
      const [before = "", after = ""] = [
        shown.slice(0, shown.indexOf("|")),
        shown.slice(shown.indexOf("|") + 1),
      ];
      expect(graphemesOf(before).join("") + graphemesOf(after).join("")).toBe(before + after);
      expect((before + after).isWellFormed()).toBe(true);
      expect(before.isWellFormed()).toBe(true);
    }),
    { numRuns: 300 },
  );
});
