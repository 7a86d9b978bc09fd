import { describe, expect, test } from "vitest";
import { SignalState } from "./signal-state.ts";

describe("SignalState", () => {
  test("unblock() gives all that waits no more, by rising number, once", () => {
    const signals = new SignalState();
    signals.blocked.add(4);
    for (const signal of [5, 4, 1, 3] as const) signals.pending.add(signal);
    expect(signals.unblock(2)).toEqual([1, 3, 5]);
    expect(signals.unblock(2)).toEqual([]);
    expect(signals.unblock(4)).toEqual([4]);
  });

  test("view() is a copy, by rising number", () => {
    const signals = new SignalState();
    for (const signal of [5, 1] as const) signals.blocked.add(signal).add(signal);
    signals.pending.add(5);
    signals.handlers.set(3, "ignore").set(1, () => {});
    const view = signals.view();
    signals.clear();
    expect(view).toEqual({ blocked: [1, 5], pending: [5], handled: [1, 3] });
    expect(signals.view()).toEqual({ blocked: [], pending: [], handled: [] });
  });
});
