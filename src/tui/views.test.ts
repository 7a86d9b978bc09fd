import { expect, test, vi } from "vitest";
import { en } from "../cli/screen/words/en.ts";
import { aRow, FakeDaemon } from "../cli/testing/fake-daemon.ts";
import { METRICS } from "../cli/testing/snapshot.ts";
import type { App } from "./app.ts";
import type { FullView } from "./drive/overlay.ts";
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
];

/** Enter on a process in /top of session 1. */
async function chosen(pid: number) {
  const done = { switched: 0, isClosed: false, reads: 0, view: undefined as FullView | undefined };
  const daemon = new FakeDaemon({
    "process.list": () => ({ processes: ROWS }),
    "kernel.metrics": () => METRICS,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = async () => {
    done.reads++;
    return { messages: [{ role: "user", text: `read ${done.reads}`, calls: [], at: "", seq: 0, uuid: "u" }] };
  };
  const app = {
    ...{
      pid: 1,
      words: en,
      client: { request, aside: { request } },
      call: { host: { daemon, env: {} } },
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
  return { done, shown };
}

test("Enter in /top opens a session, comes back to this one, and says what has nothing to show", async () => {
  const [own, other, program] = [await chosen(1), await chosen(3), await chosen(4)];
  expect([own.done.isClosed, other.done.switched]).toEqual([true, 3]);
  expect(program.shown()).toContain("PID 4 is not an agent");
  for (const { done } of [own, other, program]) done.view?.closed?.();
});

test("Enter in /top on another agent shows what it says, again and again until it is left", async () => {
  vi.useFakeTimers();
  try {
    const { done, shown } = await chosen(2);
    expect(shown()).toContain("[2] dig it · 0/0 · q leave");
    await vi.advanceTimersByTimeAsync(0);
    expect(shown()).toContain("read 1");
    await vi.advanceTimersToNextTimerAsync();
    expect(shown()).toContain("read 2");
    done.view?.closed?.();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
