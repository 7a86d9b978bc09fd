import { expect, test, vi } from "vitest";
import { en } from "../../cli/screen/words/en.ts";
import { aRow, FakeDaemon } from "../../cli/testing/fake-daemon.ts";
import { METRICS } from "../../cli/testing/snapshot.ts";
import { textOf } from "../text/line.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { TopScreen } from "./top-screen.ts";

const SIZE = { columns: 150, rows: 12 };

/** The view over a daemon with two agents and a service. */
class Screen {
  readonly chosen: number[] = [];
  readonly rows = [
    aRow({ pid: 1, tokens_used: 100, elapsed_ms: 60_000, intent: "first" }),
    aRow({ pid: 2, ppid: 1, tokens_used: 900, elapsed_ms: 60_000, intent: "second" }),
    aRow({ pid: 3, kind: "service", name: "mcp:notes", intent: "third" }),
  ];
  readonly daemon = new FakeDaemon({
    "process.list": () => ({ processes: this.rows }),
    "kernel.metrics": () => METRICS,
    "process.signal": () => ({ pids: [2] }),
    "budget.set": () => {
      throw new Error("more than what is left");
    },
  });
  #changed = () => {};
  readonly view = new TopScreen({
    ...{ daemon: this.daemon, env: {} },
    changed: () => this.#changed(),
    chosen: ({ pid }) => {
      this.chosen.push(pid);
      return "not that one";
    },
  });

  /** Until the daemon has answered once more. */
  async answered(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#changed = resolve;
    });
    return this.text;
  }

  get text(): string {
    return this.view
      .lines(SIZE, { words: en } as EntryLook)
      .map(textOf)
      .join("\n");
  }

  get signals(): readonly unknown[] {
    return this.daemon.asked.flatMap(([method, payload]) => (method === "process.signal" ? [payload] : []));
  }

  key(name: string): boolean {
    return this.view.press({ kind: "key", name }, SIZE);
  }

  type(text: string): boolean {
    return this.view.press({ kind: "text", text }, SIZE);
  }
}

test("the table stands there after one look, follows the daemon, and rests once it is left", async () => {
  vi.useFakeTimers();
  try {
    const screen = new Screen();
    expect(screen.text).toBe("reading …");
    expect(await screen.answered()).toMatch(/^2 processes.*\n.*\n.*PID.*\n *2 .*second\n *1 .*first/);
    screen.rows.push(aRow({ pid: 4, intent: "fourth" }));
    let again: string | undefined;
    void screen.answered().then((text) => {
      again = text;
    });
    // the timer of the next look may not be set yet
    while (again === undefined) await vi.advanceTimersToNextTimerAsync();
    expect(again).toContain("fourth");
    screen.view.closed();
    expect([vi.getTimerCount(), screen.daemon.openConnections]).toEqual([0, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test("keys do what they do in crux top: letters typed at once are several, a paste is none", async () => {
  const screen = new Screen();
  await screen.answered();
  screen.view.press({ kind: "paste", text: "kk" }, SIZE);
  expect(screen.type("p")).toBe(true);
  expect(screen.text).toContain("choose a process first");
  screen.key("down");
  screen.type("kt");
  expect(await screen.answered()).toContain("PID 2: signal sent (SIGTERM)");
  await screen.answered();
  expect(screen.signals).toEqual([{ pid: 2, signal: 1 }]);
  screen.type("b5");
  expect(screen.text).toContain("in US dollars: 5_");
  screen.key("enter");
  expect(await screen.answered()).toContain("more than what is left");
  screen.key("enter");
  expect(screen.chosen).toEqual([2]);
  expect(screen.text).toContain("not that one");
  screen.view.closed();
});

test("q leaves, and Esc where it has nothing else to end", async () => {
  const screen = new Screen();
  await screen.answered();
  screen.type("/third");
  expect([screen.key("escape"), screen.type("/first"), screen.key("enter")]).toEqual([true, true, true]);
  expect(screen.text).not.toContain("second");
  expect([screen.key("escape"), screen.text.includes("second")]).toEqual([true, true]);
  expect([screen.key("escape"), screen.type("q"), screen.key("ctrl+c")]).toEqual([false, false, false]);
  screen.view.closed();
});
