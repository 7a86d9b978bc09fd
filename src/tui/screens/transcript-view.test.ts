import { expect, test } from "vitest";
import type { WireHistoryItem } from "../../abi/methods/session.ts";
import { en } from "../../cli/screen/words/en.ts";
import type { Press } from "../editor/keys.ts";
import type { Model, TranscriptEntry } from "../state/model.ts";
import { textOf } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { stepAt } from "./rewind-picker.ts";
import { TranscriptView, type TranscriptWish } from "./transcript-view.ts";

const SIZE = { columns: 40, rows: 12 };
const LOOK = { theme: themeOf("dark", "none"), width: 39, words: en, isUnfolded: false } as EntryLook;
const COUNT = 20_000;

const message = (n: number): WireHistoryItem => ({
  ...{ role: n % 2 === 0 ? "user" : "assistant", text: `message ${n}`, calls: [], at: "", seq: n, uuid: "u" },
});

/** The history of a process, as the daemon answers it. */
async function history({ before, limit, text = "" }: { before?: string; limit: number; text?: string }) {
  const found: WireHistoryItem[] = [];
  let at = before === undefined ? COUNT : Number(before);
  while (at > 0 && found.length < limit) {
    at--;
    const item = message(at);
    if (item.text.includes(text)) found.unshift(item);
  }
  return { messages: found, ...(at > 0 ? { next: String(at) } : {}) };
}

/** The same of a history that grows. */
async function page(said: WireHistoryItem[], at: { before?: string; limit: number }, screen: Screen) {
  screen.asked.push(at);
  const end = Number(at.before ?? said.length);
  const from = Math.max(0, end - at.limit);
  return { messages: said.slice(from, end), ...(from > 0 ? { next: String(from) } : {}) };
}

class Screen {
  readonly asked: unknown[] = [];
  readonly copied: string[] = [];
  readonly went: unknown[] = [];
  readonly view: TranscriptView;
  #changed = 0;

  /** What the terminal knows by itself, which may grow. */
  heard: Pick<Model, "entries" | "dropped">;

  constructor(entries: readonly TranscriptEntry[], wish: Partial<TranscriptWish> = {}) {
    this.heard = { entries, dropped: 0 };
    const request = async (_method: string, params: never) => {
      this.asked.push(params);
      return history(params);
    };
    this.view = new TranscriptView({
      ...{ pid: 1, heard: () => this.heard, title: "" },
      client: { request: request as never },
      changed: () => this.#changed++,
      copy: (text) => this.copied.push(text),
      go: (what, place) => this.went.push([what, place.seq]),
      ...wish,
    });
  }

  get lines(): string[] {
    return this.view.lines(SIZE, LOOK).map((line) => textOf(line).trimEnd());
  }

  press(...names: string[]): void {
    for (const name of names) {
      const press: Press = name.length === 1 ? { kind: "text", text: name } : { kind: "key", name };
      this.view.press(press, SIZE);
    }
  }

  /** Draws as the terminal does, until nothing more is read. */
  async settled(): Promise<string[]> {
    for (let seen = -1; seen !== this.#changed || this.asked.length === 0; ) {
      seen = this.#changed;
      void this.lines;
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return this.lines;
  }
}

const OWN: TranscriptEntry[] = [
  { kind: "user", text: `message ${COUNT - 2}`, from: "" },
  { kind: "call", id: "1", tool: "bash", input: { command: "ls" }, result: "out of bash", isFinal: true },
  { kind: "text", text: `message ${COUNT - 1}`, isFinal: true },
];

test("the view of an agent that has not said anything yet shows its task, and then what it said", async () => {
  const said: WireHistoryItem[] = [];
  const screen: Screen = new Screen([], {
    task: "dig it\nand fill it",
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  const shown = async () => (await screen.settled()).filter((line) => line !== "").slice(0, -1);
  expect(await shown()).toEqual(["› dig it", "  and fill it", "· it has not said anything yet"]);
  said.push(message(0), message(1));
  screen.view.refresh();
  expect(await shown()).toEqual(["› message 0", "● message 1"]);
});

test("20,000 messages open with one page, without one twice, and what the terminal knows in full", async () => {
  const screen = new Screen(OWN);
  const lines = await screen.settled();
  expect(screen.asked).toEqual([
    { pid: 1, limit: 100, made: true },
    { pid: 1, limit: 100, made: true, before: "19900" },
  ]);
  const text = lines.join("\n");
  expect(text).toContain("out of bash");
  expect(text.split(`message ${COUNT - 2}`)).toHaveLength(2);
  expect(text).toContain(`message ${COUNT - 3}`);
  expect(lines).toHaveLength(SIZE.rows);
});

test("g reads to the first message, G back to the last; at most 500 messages are held meanwhile", async () => {
  const screen = new Screen(OWN);
  await screen.settled();
  screen.press("g");
  const first = await screen.settled();
  expect(first[1]).toBe("› message 0");
  expect(screen.asked).toHaveLength(COUNT / 100);
  const held = () => Number(/\/(\d+)/.exec(screen.lines.at(-1) ?? "")?.[1]) / 2;
  expect(held()).toBeLessThanOrEqual(500);
  for (let page = 0; page < 6; page++) {
    screen.press("G");
    await screen.settled();
  }
  expect(held()).toBeLessThanOrEqual(500);
  expect(screen.lines.join("\n")).toMatch(/message [5-9]\d\d/);
});

test("/ asks the daemon for what is not held, and goes there; Esc ends the reading", async () => {
  const screen = new Screen(OWN);
  await screen.settled();
  screen.press("/", ..."message 12345", "enter");
  const found = await screen.settled();
  expect(found.join("\n")).toContain("● message 12345");
  expect(screen.asked).toContainEqual({ pid: 1, before: "19900", text: "message 12345", limit: 1 });
  expect(screen.view.press({ kind: "key", name: "escape" }, SIZE)).toBe(false);
});

test("what is found near the end stands with what is before it, and the arrows move on from there", async () => {
  const said = Array.from({ length: 50 }, (_, n) => message(n));
  const screen = new Screen([], {
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  await screen.settled();
  screen.press("g", "/", ..."message 49", "enter");
  const found = await screen.settled();
  expect(found).toContain("● message 49");
  expect(found).toContain("● message 47");
  screen.press("up");
  expect(screen.lines[0]).not.toBe(found[0]);
  expect(screen.lines).toContain(found[0]);
});

test("refresh() shows what was said since at the end, with one page, and what is older is read on from there", async () => {
  const said = Array.from({ length: 250 }, (_, n) => message(n));
  const screen = new Screen([], {
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  expect((await screen.settled()).join("\n")).toContain("message 249");
  for (let n = 250; n < 400; n++) said.push(message(n));
  screen.asked.length = 0;
  screen.view.refresh();
  expect((await screen.settled()).join("\n")).toContain("message 399");
  expect(screen.asked).toEqual([
    { pid: 1, limit: 100, made: true },
    { pid: 1, limit: 100, made: true, before: "300" },
  ]);
  screen.press("g");
  expect((await screen.settled())[1]).toBe("› message 0");
  const places = screen.asked.map((each) => (each as { before?: string }).before);
  expect(places).toEqual([undefined, "300", "200", "100"]);
});

test("refresh() leaves whoever has scrolled up where he is, until the end is on the screen again", async () => {
  const said = Array.from({ length: 50 }, (_, n) => message(n));
  const screen = new Screen([], {
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  await screen.settled();
  screen.press("k", "k");
  const before = screen.lines;
  said.push(message(50));
  screen.view.refresh();
  expect(await screen.settled()).toEqual(before);
  expect(screen.asked).toHaveLength(1);
  screen.press("G");
  expect((await screen.settled()).join("\n")).toContain("message 50");
  screen.view.closed();
  screen.view.refresh();
  await screen.settled();
  expect(screen.asked).toHaveLength(2);
});

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** For longer than what is heard waits for the next drawing. */
const HEARD_MS = 120;

test("what a process says and calls just now stands at the end as it grows, and once when it is in the history", async () => {
  const said = [message(0)];
  const screen = new Screen([], {
    task: "dig it",
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  const shown = async () => {
    await wait(HEARD_MS);
    return (await screen.settled()).filter((line) => line !== "").slice(0, -1);
  };
  expect(await shown()).toEqual(["› message 0"]);
  const text = (words: string, isFinal = false) => ({ kind: "text", text: words, isFinal }) as const;
  const call = { kind: "call", id: "c1", tool: "bash", input: { command: "ls" }, isFinal: false } as const;
  screen.heard = { entries: [text("I lo")], dropped: 0 };
  expect(await shown()).toEqual(["› message 0", "● I lo"]);
  screen.heard = { entries: [text("I look", true), call], dropped: 0 };
  const open = await shown();
  expect(open.slice(0, 2)).toEqual(["› message 0", "● I look"]);
  expect(open[2]).toMatch(/^○ .*ls/);
  said.push({
    ...{ ...message(1), text: "I look", calls: ['bash {"command":"ls"}'] },
    made: [{ id: "c1", tool: "bash", input: { command: "ls" }, result: "a.ts" }],
  });
  screen.view.refresh();
  expect((await shown()).filter((line) => /I look|○ |● \w+.*ls/.test(line))).toHaveLength(2);
});

test("whoever has scrolled up stays there while more is heard, and finds what was dropped in the history", async () => {
  const said = Array.from({ length: 30 }, (_, n) => message(n));
  const screen = new Screen([], {
    client: { request: (async (_: string, at: never) => page(said, at, screen)) as never },
  });
  await screen.settled();
  screen.press("k", "k", "k");
  const before = screen.lines.slice(0, -1);
  const heard = Array.from(
    { length: 10 },
    (_, n) => ({ kind: "text", text: `new ${n}`, isFinal: true }) as const,
  );
  screen.heard = { entries: heard, dropped: 0 };
  await wait(HEARD_MS);
  await screen.settled();
  expect(screen.lines.slice(0, -1)).toEqual(before);
  said.push(...heard.map(({ text }, n): WireHistoryItem => ({ ...message(31 + 2 * n), text })));
  screen.heard = { entries: heard.slice(5), dropped: 5 };
  await wait(HEARD_MS);
  expect(screen.lines.slice(0, -1)).toEqual(before);
  screen.press("G");
  await wait(HEARD_MS);
  await screen.settled();
  screen.press("g");
  const all: string[] = [];
  for (let n = 0; n < 20; n++) {
    all.push(...(await screen.settled()));
    screen.press("pagedown");
  }
  expect(new Set(all.join(" ").match(/new \d/g)).size).toBe(10);
});

test("y copies the message at the top, f and r begin there; letters of a search do nothing else", async () => {
  const screen = new Screen(OWN);
  await screen.settled();
  screen.press("{", "y", "f", "j", "f", "k", "f", "f", "r");
  const copied = Number(screen.copied[0]?.replace("message ", ""));
  expect(screen.went).toEqual([
    ["fork", copied],
    ["rewind", copied],
  ]);
  screen.press("/", "y", "f", "r");
  expect([screen.copied.length, screen.went.length]).toEqual([1, 2]);
});

test("stepAt() is the step that ends with a reply, and for a message the one before it", () => {
  const step = (n: number, uuid: string, seq: number) => ({ step: n, uuid, seq }) as never;
  const steps = [step(0, "old", 3), step(1, "old", 6), step(2, "new", 4), step(3, "new", 9)];
  const at = (uuid: string, seq: number, role: "user" | "assistant", what: "fork" | "rewind") =>
    stepAt(steps, { uuid, seq, role }, what);
  expect(at("old", 5, "assistant", "fork")).toBe(1);
  expect(at("old", 5, "assistant", "rewind")).toBe(0);
  expect(at("new", 8, "user", "fork")).toBe(2);
  expect(at("new", 3, "user", "rewind")).toBe(1);
  expect(at("none", 3, "user", "rewind")).toBeUndefined();
});

test("scrolled to by a key it begins a page above the end, draws each message once, and is left at the end", async () => {
  const screen = new Screen([], { isScroll: true });
  const drawn = new Map<string, number>();
  const highlight: EntryLook["highlight"] = (code) => {
    drawn.set(code, (drawn.get(code) ?? 0) + 1);
    return undefined;
  };
  const look = { ...LOOK, highlight };
  const code = (n: number): WireHistoryItem => ({
    ...message(n),
    role: "assistant",
    text: `\`\`\`ts\nc${n}\n\`\`\``,
  });
  const said = Array.from({ length: 1_000 }, (_, n) => code(n));
  const { promise, resolve } = Promise.withResolvers<void>();
  let pages = 0;
  const entries = said.slice(-20).map(({ text }) => ({ kind: "text", text, isFinal: true }) as const);
  const view = new TranscriptView({
    ...{ pid: 1, heard: () => ({ entries, dropped: 0 }) },
    ...{ title: "", isScroll: true, copy: () => {}, go: () => {} },
    client: { request: ((_: string, at: never) => page(said, at, screen)) as never },
    changed: () => {
      view.lines(SIZE, look);
      if (++pages === 3) resolve();
      view.press({ kind: "key", name: "g" }, SIZE);
    },
  });
  const first = view.lines(SIZE, look).map(textOf).join("\n");
  expect(first).not.toContain("c999");
  view.press({ kind: "key", name: "g" }, SIZE);
  await promise;
  expect(Math.max(...drawn.values())).toBe(1);
  expect(view.press({ kind: "key", name: "pagedown" }, SIZE)).toBe(true);
  expect(view.press({ kind: "text", text: "G" }, SIZE)).toBe(true);
  expect(view.press({ kind: "key", name: "down" }, SIZE)).toBe(false);
});

test("the page that comes next is shown at once, whether the daemon answers meanwhile or not", async () => {
  const screen = new Screen([]);
  await screen.settled();
  for (let n = 0; n < 30; n++) {
    screen.press("pageup");
    void screen.lines;
  }
  const numbers = screen.lines.join(" ").match(/message \d+/g) ?? [];
  expect(numbers.map((words) => Number(words.slice(8))).every((n) => n >= 19_800 && n < 19_900)).toBe(true);
  expect(numbers.length).toBeGreaterThan(3);
});
