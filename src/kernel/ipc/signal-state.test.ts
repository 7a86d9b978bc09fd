import { describe, expect, test } from "vitest";
import { SignalState } from "./signal-state.ts";

describe("SignalState", () => {
  test("unblock() gives all that waits no more, by rising number, once", () => {
    const signals = new SignalState();
    signals.block(4);
    for (const signal of [5, 4, 1, 3] as const) expect(signals.postpone(signal)).toBe(true);
    expect(signals.postpone(1)).toBe(false);
    expect(signals.unblock(2)).toEqual([1, 3, 5]);
    expect(signals.unblock(2)).toEqual([]);
    expect(signals.unblock(4)).toEqual([4]);
  });

  test("view() is a copy, by rising number", () => {
    const signals = new SignalState();
    for (const signal of [5, 1] as const) signals.block(signal);
    signals.postpone(5);
    signals.handle(3, "ignore");
    signals.handle(1, () => {});
    const view = signals.view();
    signals.clear();
    expect(view).toEqual({ blocked: [1, 5], pending: [5], handled: [1, 3] });
    expect(signals.view()).toEqual({ blocked: [], pending: [], handled: [] });
  });
});
