import { describe, expect, test, vi } from "vitest";
import { ABORTED, abortable, linkSignals } from "./abort.ts";

describe("linkSignals()", () => {
  test("aborts with the reason of the source that aborts first, and leaves no source aborted", () => {
    const [one, two] = [new AbortController(), new AbortController()];
    using linked = linkSignals(one.signal, undefined, two.signal);
    const reason = new Error("over");
    two.abort(reason);
    expect(linked.signal.reason).toBe(reason);
    expect(one.signal.aborted).toBe(false);
  });

  test("aborts by itself with the shared reason, which reads as an abort", () => {
    using linked = linkSignals(new AbortController().signal);
    linked.abort();
    expect(linked.signal.reason).toBe(ABORTED);
    expect(ABORTED.name).toBe("AbortError");
  });

  test("has no listener on a source before the signal is asked for, nor after its end", () => {
    const { signal } = new AbortController();
    const [added, removed] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    const linked = linkSignals(signal);
    expect(added).not.toHaveBeenCalled();
    expect(linked.signal).toBe(linked.signal);
    expect(added).toHaveBeenCalledTimes(1);
    linked[Symbol.dispose]();
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map((call) => call[1]),
    );
  });

  test("is aborted at once if a source was, before the signal was asked for", () => {
    const source = new AbortController();
    using linked = linkSignals(source.signal);
    const reason = new Error("over");
    source.abort(reason);
    expect(linked.signal.reason).toBe(reason);
  });

  test("follows its sources no longer once it is disposed", () => {
    const source = new AbortController();
    const linked = linkSignals(source.signal);
    linked[Symbol.dispose]();
    source.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});

describe("abortable()", () => {
  test("rejects with the reason of the signal, before the promise or after its abort", async () => {
    const controller = new AbortController();
    const never = new Promise<void>(() => {});
    const waiting = abortable(never, controller.signal);
    controller.abort(ABORTED);
    await expect(waiting).rejects.toBe(ABORTED);
    await expect(abortable(never, controller.signal)).rejects.toBe(ABORTED);
  });
});
