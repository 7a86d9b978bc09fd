import { describe, expect, test } from "vitest";
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import type { Reply, StreamEvent } from "../../abi/llm.ts";
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
const piece = (index: number, text: string): ProcessEvent => ({
  event: "delta",
  pid,
  piece: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
});
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

  test("messages come only to who follows them, and pieces of a reply only to who follows those", async () => {
    const watchers = new Watchers();
    expect([watchers.follows("messages"), watchers.follows("deltas")]).toEqual([false, false]);
    const plain = watchers.watch();
    expect(watchers.follows("messages")).toBe(false);
    const close = watchers.watch(undefined, "messages");
    expect([watchers.follows("messages"), watchers.follows("deltas")]).toEqual([true, false]);
    const closest = watchers.watch(undefined, "deltas");
    expect(watchers.follows("deltas")).toBe(true);
    const result: ProcessEvent = {
      event: "tool_result",
      pid,
      result: { type: "tool_result", tool_use_id: "c", content: "x" },
    };
    const all = [piece(0, "a"), result, COMPLETE];
    for (const event of all) watchers.publish(event);
    expect(watchers.follows("messages")).toBe(false);
    expect(await Array.fromAsync(plain)).toEqual([COMPLETE]);
    expect(await Array.fromAsync(close)).toEqual([result, COMPLETE]);
    expect(await Array.fromAsync(closest)).toEqual(all);
  });

  test("what a call prints goes only to who follows closely, and of it a full queue keeps the newest", async () => {
    const watchers = new Watchers();
    const output = (text: string): ProcessEvent => ({
      event: "output",
      pid,
      call: { tool: "bash", about: "make" },
      output: text,
      elapsedMs: 1,
    });
    const [far, near] = [watchers.watch(undefined, "messages"), watchers.watch(undefined, "deltas")];
    for (let n = 1; n < LIMITS.watchEvents; n++) watchers.publish(ask(`${n}`));
    for (const text of ["1", "2", "3"]) watchers.publish(output(text));
    watchers.end();
    expect((await Array.fromAsync(near)).filter(({ event }) => event === "output")).toEqual([output("3")]);
    expect((await Array.fromAsync(far)).some(({ event }) => event === "output")).toBe(false);
  });

  test("a full queue joins the pieces of one block, so that a slow reader gets every character", async () => {
    const watchers = new Watchers();
    const events = watchers.watch(undefined, "deltas");
    for (let n = 0; n < LIMITS.watchEvents + 5; n++) watchers.publish(piece(0, String(n % 10)));
    watchers.publish(piece(1, "b"));
    watchers.publish(piece(1, "c"));
    watchers.publish(COMPLETE);
    const heard = await Array.fromAsync(events);
    expect([events.dropped, heard.length]).toEqual([0, LIMITS.watchEvents + 2]);
    expect(heard.at(-3)).toEqual(piece(0, "901234"));
    expect(heard.slice(-2)).toEqual([piece(1, "bc"), COMPLETE]);
  });

  test("pieces of a reply that does not come are void, once, for those who got them", async () => {
    const watchers = new Watchers();
    const [close, closest] = [watchers.watch(undefined, "messages"), watchers.watch(undefined, "deltas")];
    const usage = {
      ...{ input_tokens: 1, output_tokens: 0 },
      ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    };
    const begins = (id: string): ProcessEvent => ({
      event: "delta",
      pid,
      piece: { type: "message_start", message: { id, model: "x", usage } },
    });
    const retry = { attempt: 1, maxRetries: 9, delayMs: 500, errorKind: "connection" } as const;
    const reply: Reply = { id: "m3", model: "x", blocks: [], stopReason: "end_turn", usage };
    const all: readonly ProcessEvent[] = [
      begins("m1"),
      piece(0, "a"),
      { event: "api_retry", pid, ...retry },
      { event: "api_retry", pid, ...retry },
      // whole, but asked for again
      begins("m2"),
      begins("m3"),
      { event: "message", pid, reply, durationMs: 1 },
      begins("m4"),
      COMPLETE,
    ];
    for (const event of all) watchers.publish(event);
    const heard = await Array.fromAsync(closest);
    const names = heard.map((event) => (event.event === "tombstone" ? event.replyId : event.event));
    const delta = "delta";
    expect(names).toEqual([
      delta,
      delta,
      "m1",
      "api_retry",
      "api_retry",
      delta,
      "m2",
      delta,
      "message",
      delta,
      "m4",
      "complete",
    ]);
    expect((await Array.fromAsync(close)).map(({ event }) => event)).not.toContain("tombstone");
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

  describe("who comes while a reply is under way", () => {
    const usage = {
      ...{ input_tokens: 1, output_tokens: 0 },
      ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    };
    const told = (given: StreamEvent): ProcessEvent => ({ event: "delta", pid, piece: given });
    const begin = told({ type: "message_start", message: { id: "m1", model: "x", usage } });
    const block = told({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    const call: ProcessEvent = { event: "call", pid, call: { tool: "view", about: "a" } };
    const reply: Reply = { id: "m1", model: "x", blocks: [], stopReason: "tool_use", usage };
    const message: ProcessEvent = { event: "message", pid, reply, durationMs: 1 };
    const heardBy = async (watchers: Watchers, detail?: Detail) => {
      const queue = watchers.watch(undefined, detail);
      watchers.end();
      return Array.fromAsync(queue);
    };

    test("gets what has come of it, joined, though nobody followed it before", async () => {
      const watchers = new Watchers();
      for (const event of [begin, block, piece(0, "a"), piece(0, "b")]) watchers.keep(event);
      const late = watchers.watch(undefined, "deltas");
      for (const event of [piece(0, "c")]) watchers.publish(event);
      watchers.publish(COMPLETE);
      const gone: ProcessEvent = { event: "tombstone", pid, replyId: "m1" };
      expect(await Array.fromAsync(late)).toEqual([
        begin,
        block,
        piece(0, "ab"),
        piece(0, "c"),
        gone,
        COMPLETE,
      ]);
    });

    test("gets the whole reply and the calls of it that are over, until both are in the history", async () => {
      const under = (): Watchers => {
        const watchers = new Watchers();
        for (const event of [begin, block, piece(0, "a"), message]) watchers.keep(event);
        watchers.publish(call);
        return watchers;
      };
      expect(await heardBy(under(), "messages")).toEqual([message, call]);
      expect(await heardBy(under(), "deltas")).toEqual([message, call]);
      expect(await heardBy(under())).toEqual([]);
      const settled = under();
      settled.settled();
      expect(await heardBy(settled, "deltas")).toEqual([]);
    });

    test("gets a reply of many small pieces whole, and no call of before it", async () => {
      const watchers = new Watchers();
      watchers.publish(call);
      for (const event of [begin, block]) watchers.keep(event);
      const text = Array.from({ length: 1_000 }, (_, n) => `${n} `);
      for (const each of text) watchers.keep(piece(0, each));
      expect(await heardBy(watchers, "deltas")).toEqual([begin, block, piece(0, text.join(""))]);
      const whole = new Watchers();
      whole.publish(call);
      whole.keep(message);
      expect(await heardBy(whole, "deltas")).toEqual([message]);
    });

    test("gets nothing of one that is void, or longer than is kept", async () => {
      const void_ = new Watchers();
      for (const event of [begin, block, piece(0, "a")]) void_.keep(event);
      const retry = { attempt: 1, maxRetries: 9, delayMs: 500, errorKind: "connection" } as const;
      void_.publish({ event: "api_retry", pid, ...retry });
      expect(await heardBy(void_, "deltas")).toEqual([]);
      const long = new Watchers();
      for (const event of [begin, block, piece(0, "a".repeat(LIMITS.comingChars)), piece(0, "b")])
        long.keep(event);
      expect(await heardBy(long, "deltas")).toEqual([]);
    });
  });
});
