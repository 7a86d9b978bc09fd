import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import { LIMITS } from "../limits.ts";
import { Watchers } from "./watchers.ts";

const pid = asPid(1);
const step = (n: number): ProcessEvent => ({ event: "step", pid, step: n, total: 0 });
const COMPLETE: ProcessEvent = {
  event: "complete",
  pid,
  result: "",
  exit: EXIT.completed,
  tokensUsed: 0,
  elapsedMs: 0,
};
const ask = (id: string): ProcessEvent => ({ event: "ask_closed", pid, ask_id: id, answer: null });

describe("Watchers", () => {
  test("a full queue loses its oldest steps, never questions or the end", async () => {
    const watchers = new Watchers();
    const events = watchers.watch();
    watchers.publish(ask("a"));
    for (let n = 0; n < LIMITS.watchEvents; n++) watchers.publish(step(n));
    watchers.publish(ask("b"));
    watchers.publish(COMPLETE);
    const heard = await Array.fromAsync(events);
    expect(heard.length).toBe(LIMITS.watchEvents);
    expect(events.dropped).toBe(3);
    expect(heard[0]).toEqual(ask("a"));
    expect(heard[1]).toEqual(step(3));
    expect(heard.slice(-2)).toEqual([ask("b"), COMPLETE]);
  });

  test("who comes after the end is told how it ended, and nothing else", async () => {
    const watchers = new Watchers();
    const failure: ProcessEvent = { event: "error", pid, message: "no", error: new Error("no") };
    for (const event of [step(1), failure, COMPLETE, step(2)]) watchers.publish(event);
    for (const _ of [1, 2]) expect(await Array.fromAsync(watchers.watch())).toEqual([failure, COMPLETE]);
  });

  test("after the end nothing comes, and nobody is heard", async () => {
    const watchers = new Watchers();
    const events = watchers.watch();
    expect(watchers.isHeard).toBe(true);
    watchers.publish(COMPLETE);
    watchers.publish(step(1));
    expect(watchers.isHeard).toBe(false);
    expect(watchers.count).toBe(1);
    expect(await Array.fromAsync(events)).toEqual([COMPLETE]);
    expect(await Array.fromAsync(watchers.watch())).toEqual([COMPLETE]);
  });

  test("onEmpty is called when the last one goes, once per close", () => {
    const watchers = new Watchers();
    let empty = 0;
    watchers.onEmpty = () => empty++;
    const [a, b] = [watchers.watch(), watchers.watch()];
    a.close();
    a.close();
    expect(empty).toBe(0);
    b.close();
    b.close();
    expect(empty).toBe(1);
  });
});
