import { expect, test, vi } from "vitest";
import { PANEL_GRACE_MS } from "../abi/panel/rows.ts";
import { en } from "../cli/screen/words/en.ts";
import { AgentsPanel } from "./agents-panel.ts";
import type { App } from "./app.ts";
import { EMPTY } from "./state/model.ts";
import { themeOf } from "./text/theme.ts";
import type { EntryLook } from "./view/entry-lines.ts";

const CHILD = {
  ...{
    ppid: 1,
    kind: "agent",
    name: "explore",
    intent: "look around",
    state: "running",
    activity: "thinking",
  },
  ...{ created_at: "2026-01-01T00:00:00.000Z", elapsed_ms: 0, tokens_used: 0, exit: null },
};

interface Wish {
  closed(): void;
  hint(): string;
  key(name: string): boolean;
}

/** A panel with two agents, of which the first is looked at. */
async function viewing() {
  const rows = [
    { ...CHILD, pid: 2 },
    { ...CHILD, pid: 3, created_at: "2026-01-01T00:00:01.000Z" },
  ];
  const seen = {
    ...{
      looked: 0,
      drawn: 0,
      opened: 0,
      closed: 0,
      close: () => {},
      hint: () => "",
      key: (_: string) => false,
    },
    asked: [] as unknown[],
    isBack: true,
  };
  const session = { ...CHILD, pid: 1, ppid: 0 };
  const client = {
    request: async () => ({ processes: seen.isBack ? [session, ...rows] : rows }),
    close: () => seen.closed++,
  };
  const app = {
    ...{
      size: { rows: 40 },
      pid: 1,
      words: en,
      model: EMPTY,
      changed: () => seen.drawn++,
      editing: { buffer: { text: "" }, place: -1 },
    },
    call: { host: { daemon: { ensure: async () => ++seen.opened && client } } },
    do: (act: () => Promise<void>) => void act(),
    client: { request: async (...words: unknown[]) => seen.asked.push(words) },
    actions: {
      views: {
        look: (pid: number, _words: string, { closed, hint, key }: Wish) => {
          seen.key = key;
          seen.looked = pid;
          seen.close = closed;
          seen.hint = hint;
        },
      },
    },
  };
  const panel = new AgentsPanel(app as unknown as App);
  await panel.look();
  for (const name of ["down", "down", "enter"]) panel.key({ kind: "key", name });
  return { panel, rows, seen };
}

test("agents count as ended by a table that has their session, and not before: a new daemon is empty at first", async () => {
  const { panel, rows, seen } = await viewing();
  using _ = panel;
  const all = rows.splice(0);
  seen.isBack = false;
  await panel.look();
  expect(seen.hint()).toMatch(/^x stop · /);
  seen.isBack = true;
  rows.push(...all.slice(1));
  await panel.look();
  expect(seen.hint()).toMatch(/^x clear · completed/);
});

test("ctrl+b hands over the one that is looked at, or under the cursor", async () => {
  const { panel, seen } = await viewing();
  using _ = panel;
  expect(seen.key("ctrl+b")).toBe(true);
  panel.key({ kind: "key", name: "down" });
  panel.key({ kind: "key", name: "ctrl+b" });
  expect(seen.asked).toEqual([2, 3].map((pid) => ["process.background", { pid }]));
});

test("the cursor stays on its agent when the row above it goes", async () => {
  const { panel, rows, seen } = await viewing();
  using _ = panel;
  seen.close();
  panel.key({ kind: "key", name: "down" });
  const [first] = rows;
  rows[0] = { ...first!, state: "zombie", elapsed_ms: 1_000 };
  await panel.look();
  const look = { theme: themeOf("dark", "none"), width: 80, words: en } as EntryLook;
  const shown = panel.lines(look).map((line) => line.map(({ text }) => text).join(""));
  expect(shown.filter((line) => line.startsWith("  ●"))).toHaveLength(1);
  expect(shown[1]).toMatch(/^ {2}● /);
  panel.key({ kind: "key", name: "ctrl+b" });
  expect(seen.asked).toEqual([["process.background", { pid: 3 }]]);
});

test("the view of an agent says what it does and for how long, until it is left", async () => {
  const { panel, rows, seen } = await viewing();
  using _ = panel;
  const change = async (now: Partial<typeof CHILD>) => {
    rows[0] = { ...rows[0], ...now } as (typeof rows)[number];
    await panel.look();
  };
  expect(seen.looked).toBe(2);
  const { drawn } = seen;
  await change({});
  expect(seen.drawn).toBe(drawn + 1);
  await change({ activity: "tool", tokens_used: 20 });
  expect(seen.hint()).toMatch(/^x stop · tool · \d.* · ↓ 20 tokens$/);
  await change({ state: "zombie" });
  expect(seen.hint()).toMatch(/^x clear · completed/);
  seen.close();
  await panel.look();
  const left = seen.drawn;
  await panel.look();
  expect(seen.drawn).toBe(left);
});

test("one connection serves all looks, until no agent works or the panel is closed", async () => {
  const { panel, rows, seen } = await viewing();
  for (let n = 0; n < 3; n++) await panel.look();
  expect([seen.opened, seen.closed]).toEqual([1, 0]);
  for (const [at, row] of rows.entries()) rows[at] = { ...row, state: "zombie" };
  await panel.look();
  expect([seen.opened, seen.closed]).toEqual([1, 1]);
  rows[0] = { ...CHILD, pid: 9 };
  await panel.look();
  panel[Symbol.dispose]();
  expect([seen.opened, seen.closed]).toEqual([2, 2]);
});

test("an agent that has ended and left the table is forgotten with its row", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-01T00:01:00.000Z") });
  try {
    const { panel, rows } = await viewing();
    using _ = panel;
    rows.splice(1);
    await panel.look();
    expect(panel.count).toBe(2);
    vi.setSystemTime(Date.now() + PANEL_GRACE_MS + 1);
    await panel.look();
    expect(panel.count).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test("the row of one that was looked at while it worked goes a while after its end; of one that ended long ago there is none", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-01T00:01:00.000Z") });
  try {
    const { panel, rows, seen } = await viewing();
    using _ = panel;
    const drawn = () =>
      panel.lines({ theme: themeOf("dark", "none"), width: 80, words: en } as EntryLook).length;
    const change = async (at: number, elapsed_ms: number) => {
      rows[at] = { ...rows[at], state: "zombie", elapsed_ms } as (typeof rows)[number];
      await panel.look();
    };
    seen.close();
    expect(drawn()).toBe(4);
    await change(1, 1_000);
    expect(drawn()).toBe(3);
    await change(0, 60_000);
    expect(drawn()).toBe(3);
    vi.setSystemTime(Date.now() + PANEL_GRACE_MS + 1);
    expect(drawn()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
