import { queryObjects } from "node:v8";
import { expect, test, vi } from "vitest";
import { en } from "../cli/screen/words/en.ts";
import { aRow, FakeDaemon, Feed } from "../cli/testing/fake-daemon.ts";
import { METRICS } from "../cli/testing/snapshot.ts";
import type { App } from "./app.ts";
import { type FullView, Overlay } from "./drive/overlay.ts";
import { Picker } from "./screens/picker.ts";
import { TopScreen } from "./screens/top-screen.ts";
import { TranscriptView } from "./screens/transcript-view.ts";
import { textOf } from "./text/line.ts";
import { themeOf } from "./text/theme.ts";
import type { EntryLook } from "./view/entry-lines.ts";
import { Views } from "./views.ts";

const SIZE = { columns: 120, rows: 12 };
const LOOK = { theme: themeOf("dark", "none"), width: 119, words: en, isUnfolded: false } as EntryLook;
const ROWS = [
  aRow({ pid: 1, session: true }),
  aRow({ pid: 2, intent: "dig it" }),
  aRow({ pid: 3, session: true }),
  aRow({ pid: 4, kind: "native", name: "sh" }),
  aRow({ pid: 5, intent: "Review the journal of this repository" }),
];

/** Enter on a process in /top of session 1. */
async function chosen(pid: number) {
  const done = { switched: 0, isClosed: false, reads: 0, view: undefined as FullView | undefined };
  const feed = new Feed();
  const daemon = new FakeDaemon(
    { "process.list": () => ({ processes: ROWS }), "kernel.metrics": () => METRICS },
    { "process.attach": feed },
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = async () => {
    done.reads++;
    return { messages: [{ role: "user", text: `read ${done.reads}`, calls: [], at: "", seq: 0, uuid: "u" }] };
  };
  const app = {
    ...{
      pid: 1,
      words: en,
      client: { name: "c", request, aside: { request } },
      call: { host: { daemon, env: {} } },
      nowMono: 0,
      changed: resolve,
    },
    switchTo: async (other: number) => {
      done.switched = other;
    },
    do: (act: () => Promise<void>) => void act(),
    overlay: {
      open: (view: FullView) => {
        done.view?.closed?.();
        done.view = view;
      },
      close: () => (done.isClosed = true),
    },
  };
  await new Views(app as unknown as App).open("top", "");
  await promise;
  for (const text of ["s", "s", "s", "s"]) done.view?.press({ kind: "text", text }, SIZE);
  for (let at = 0; at < pid; at++) done.view?.press({ kind: "key", name: "down" }, SIZE);
  done.view?.press({ kind: "key", name: "enter" }, SIZE);
  const shown = () => done.view?.lines(SIZE, LOOK).map(textOf).join("\n") ?? "";
  return { done, shown, feed };
}

test("Enter in /top opens a session, comes back to this one, and says what has nothing to show", async () => {
  const [own, other, program, long] = [await chosen(1), await chosen(3), await chosen(4), await chosen(5)];
  expect([own.done.isClosed, other.done.switched]).toEqual([true, 3]);
  expect(program.shown()).toContain("PID 4 is not an agent");
  expect(long.shown()).toContain("[5] Review the journal of t… · ");
  for (const { done } of [own, other, program, long]) done.view?.closed?.();
});

test("Enter in /top on another agent shows what it says, as it says it, until it is left", async () => {
  vi.useFakeTimers();
  try {
    const { done, shown, feed } = await chosen(2);
    expect(shown()).toContain("[2] dig it · 0/0 · q leave");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(shown()).toContain("read 2");
    const piece = (given: unknown) =>
      feed.push({ type: "progress", payload: { event: "delta", pid: 2, piece: given } as never });
    piece({ type: "message_start", message: { id: "m", model: "x", usage: {} } });
    piece({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I dig" } });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(shown()).toContain("● I dig");
    done.view?.closed?.();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("each view opened 1,000 times leaves no timer, nothing to undo at the end, and no view", async () => {
  vi.useFakeTimers();
  try {
    const undone = new Set<() => void>();
    const daemon = new FakeDaemon(
      { "process.list": () => ({ processes: ROWS }), "kernel.metrics": () => METRICS },
      new Feed(),
    );
    const request = async (method: string) =>
      method === "session.list"
        ? { sessions: [{ pid: 3, title: "other", cwd: "/w", created_at: "", last_at: "", state: "resting" }] }
        : { messages: [], steps: [] };
    const app = {
      ...{ pid: 1, words: en, cwd: "/w", model: { entries: [] }, client: { request, aside: { request } } },
      ...{ nowMono: 0 },
      ...{ call: { host: { daemon, env: {} } }, say: () => {}, do: (act: () => Promise<void>) => void act() },
      ...{ look: LOOK, size: SIZE, box: { isOpen: false, appeared: () => {} } },
      ...{ changed: () => overlay.isOpen && overlay.draw() },
      onEnd: (undo: () => void) => {
        undone.add(undo);
        return () => undone.delete(undo);
      },
    };
    const overlay = new Overlay({ write: () => true }, app as unknown as App);
    const views = new Views({ ...app, overlay } as unknown as App);
    const opened: Readonly<Record<string, () => unknown>> = {
      transcript: () => views.transcript(),
      look: () => views.look(2, "dig it", {}),
      top: () => views.open("top", ""),
      resume: () => void views.pickSession(),
      rewind: () => views.rewind(),
    };
    for (const open of Object.values(opened))
      for (let n = 0; n < 1_000; n++) {
        await open();
        // some are left while they still read
        if (n % 2 === 0) await vi.advanceTimersByTimeAsync(0);
        else await Promise.resolve();
        expect(overlay.isOpen).toBe(true);
        overlay.close();
      }
    await vi.advanceTimersByTimeAsync(10_000);
    expect([vi.getTimerCount(), undone.size]).toEqual([0, 0]);
    const left = [TranscriptView, TopScreen, Picker].map((view) => queryObjects(view, { format: "count" }));
    // the last one of each may still stand in a register
    for (const count of left) expect(count).toBeLessThan(10);
  } finally {
    vi.useRealTimers();
  }
});
