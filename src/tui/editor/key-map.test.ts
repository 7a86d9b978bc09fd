import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { en } from "../../cli/screen/words/en.ts";
import { KeyMap, parseKeys } from "./key-map.ts";
import { type Press, pressesFor, pressOf } from "./keys.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-keys-"));
  mkdirSync(join(dir, "crux"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const key = (name: string): Press => ({ kind: "key", name });
const letter = (text: string): Press => ({ kind: "text", text });

function mapOf(file: string): { map: KeyMap; problems: readonly string[] } {
  writeFileSync(join(dir, "crux/keys.json"), file);
  const map = new KeyMap();
  return { map, problems: map.read({ XDG_CONFIG_HOME: dir }) };
}

test("without a file each key is what it is", () => {
  const map = new KeyMap();
  expect(map.read({ XDG_CONFIG_HOME: dir })).toEqual([]);
  expect(map.pressed(key("ctrl+o"), "editor", 0)).toEqual(key("ctrl+o"));
});

test("a key of the user acts as the one that the command has by default, in its context", () => {
  const { map, problems } = mapOf(
    JSON.stringify([
      { context: "editor", keys: "Enter", command: "line_break" },
      { context: "editor", keys: "alt+return", command: "send" },
      { context: "global", keys: "F2", command: "transcript" },
      { context: "dialog", keys: "alt+j", command: "down" },
      { context: "global", keys: "Shift+Control+Down", command: "tasks" },
      { context: "global", keys: "ctrl+t", command: null },
    ]),
  );
  expect(problems).toEqual([]);
  const pressed = (press: Press, context: "editor" | "dialog" = "editor") => map.pressed(press, context, 0);
  expect(pressed(key("enter"))).toEqual(key("alt+enter"));
  expect(pressed(key("alt+enter"))).toEqual(key("enter"));
  expect(pressed(key("enter"), "dialog")).toEqual(key("enter"));
  expect([pressed(key("f2")), pressed(key("f2"), "dialog")]).toEqual([key("ctrl+o"), key("ctrl+o")]);
  expect([pressed(key("alt+j")), pressed(key("alt+j"), "dialog")]).toEqual([key("alt+j"), key("down")]);
  expect(pressed(letter("j"), "dialog")).toEqual(letter("j"));
  expect(pressed(key("ctrl+shift+down"))).toEqual(key("ctrl+t"));
  expect(pressed(key("ctrl+t"))).toBeUndefined();
  expect(map.text(en.act.ownKeys)).toMatch(/global {2}transcript {8}ctrl\+o[\s\S]*global: f2 → transcript/);
});

test("keys that a slow line has put together are as many in a view, and one text in the editor", () => {
  const text = (words: string): Press => ({ kind: "text", text: words });
  expect(pressesFor(text("/漢n"), true)).toEqual([text("/"), text("漢"), text("n")]);
  for (const press of [text("/漢n"), { kind: "paste", text: "ab" } as const])
    expect(pressesFor(press, press.kind === "paste")).toEqual([press]);
});

test("a chord is its keys within a second; another key ends it, and Esc and Ctrl-C are never lost", () => {
  const { map } = mapOf('[{"context": "global", "keys": "ctrl+x ctrl+s", "command": "transcript"}]');
  const pressed = (name: string, at: number) => map.pressed(key(name), "editor", at);
  expect([pressed("ctrl+x", 0), pressed("ctrl+s", 1_000)]).toEqual([undefined, key("ctrl+o")]);
  expect([pressed("ctrl+x", 2_000), pressed("ctrl+s", 3_001)]).toEqual([undefined, key("ctrl+s")]);
  expect([pressed("ctrl+x", 4_000), pressed("ctrl+a", 4_100), pressed("ctrl+s", 4_200)]).toEqual([
    ...[undefined, undefined, key("ctrl+s")],
  ]);
  expect([pressed("ctrl+x", 5_000), pressed("escape", 5_100)]).toEqual([undefined, key("escape")]);
});

test("what is wrong is named by its entry, and the rest counts", () => {
  const { bindings, problems } = parseKeys([
    { context: "editro", keys: "f1", command: "send" },
    { context: "editor", keys: "f1", command: "sned" },
    { context: "editor", keys: "ctrl+c", command: "send" },
    { context: "dialog", keys: "f3 esc", command: null },
    { context: "editor", keys: "a", command: "send" },
    { context: "editor", keys: "hyper+a", command: "send" },
    { context: "editor", keys: "f4", command: "send" },
    { context: "editor", keys: "F4", command: "undo" },
    { context: "editor", keys: "f4 f5", command: "undo" },
    { context: "editor", keys: "f6", command: "send", when: "idle" },
    7,
    { context: "editor", keys: "ctrl++", command: "undo" },
  ]);
  expect(problems.map((problem) => problem.slice(0, 60))).toEqual([
    'entry 1: no context "editro"; contexts: global, editor, dialog'.slice(0, 60),
    'entry 2: no command "sned" in editor; near: send'.slice(0, 60),
    "entry 3: ctrl+c keeps its meaning",
    "entry 4: escape keeps its meaning",
    "entry 5: a is text; a key of its own has ctrl or alt",
    "entry 6: no such key: hyper+a",
    "entry 8: f4 is bound twice in editor (f4)",
    "entry 9: f4 f5 is bound twice in editor (f4)",
    "entry 10: no key when; an entry has context, keys and comman",
    "entry 11: no context undefined; contexts: global, editor, di",
  ]);
  expect([...bindings]).toEqual([
    ["editor: f4", "enter"],
    ["editor: ctrl++", "ctrl+_"],
  ]);
});

test("a file that cannot be read leaves the defaults, and is named", () => {
  const { map, problems } = mapOf("[{");
  expect(problems).toEqual([expect.stringMatching(/^INVALID .*keys\.json: .*JSON/)]);
  expect(map.pressed(key("enter"), "editor", 0)).toEqual(key("enter"));
  expect(mapOf("{}").problems).toEqual([expect.stringMatching(/not a list of/)]);
});

test.each([
  ["\x1bOR", "f3"],
  ["\x1b[15~", "f5"],
  ["\x1b[24;5~", "ctrl+f12"],
])("pressOf(%j) is %s", (text, name) => {
  expect(pressOf({ kind: "key", text })).toEqual(key(name));
});
