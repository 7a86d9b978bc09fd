import { describe, expect, it } from "vitest";
import { PathLocks } from "./locks.ts";

const never = new AbortController().signal;

describe("PathLocks", () => {
  it("hold() runs one after another on a path, also after a failure, and forgets it when idle", async () => {
    const locks = new PathLocks();
    const order: string[] = [];
    const step = (name: string) => async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (name === "b") throw new Error("b fails");
    };
    const all = ["a", "b", "c"].map((name) => locks.hold("/x", never, step(name)));
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(order).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(locks.size).toBe(0);
  });

  it("hold() of other paths does not wait", async () => {
    const locks = new PathLocks();
    await locks.hold("/x", never, () => locks.hold("/y", never, async () => {}));
  });

  it("hold() is CANCELLED while waiting; the next still waits for the first", async () => {
    const locks = new PathLocks();
    const stop = new AbortController();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const ran: string[] = [];
    const first = locks.hold("/x", never, () => promise);
    const second = locks.hold("/x", stop.signal, async () => void ran.push("second"));
    const third = locks.hold("/x", never, async () => void ran.push("third"));
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: "CANCELLED" });
    await Promise.resolve();
    expect(ran).toEqual([]);
    release();
    await Promise.all([first, third]);
    expect(ran).toEqual(["third"]);
  });

  it("holdAll() takes paths in one order, so that two of them never wait for each other", async () => {
    const locks = new PathLocks();
    const both = (paths: string[]) => locks.holdAll(paths, never, async () => {});
    await Promise.all([both(["/a", "/b"]), both(["/b", "/a"]), both(["/a", "/a"])]);
    expect(locks.size).toBe(0);
  });
});
