import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { isBadInput, type Reply, type StreamEvent, type WireMessage } from "../../abi/llm.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { contractRequest } from "../contract.ts";
import type { AttemptRequest } from "../driver.ts";
import { fold } from "../fold.ts";
import { testCaller } from "../testing/callers.ts";
import { Places, ScriptDriver } from "./script.ts";

const none = new AbortController().signal;
const says = (text: string): WireMessage => ({ role: "user", content: [{ type: "text", text }] });
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "crux-script-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function open(
  turns: readonly object[],
  part: { places?: Places; pid?: number; clock?: VirtualClock } = {},
) {
  const file = join(folder, "s.yaml");
  await writeFile(file, JSON.stringify({ scenario: "s", turns }));
  const { places = new Places(), pid = 1, clock = new VirtualClock() } = part;
  const caller = testCaller({ cwd: folder, pid: asPid(pid), uuid: asProcUuid(`u${pid}`) });
  return new ScriptDriver(caller, "s.yaml", places, clock);
}

const ask = (driver: ScriptDriver, part: Partial<AttemptRequest> = {}): Promise<Reply> =>
  fold(driver.stream(contractRequest(part), none));
const textOf = (reply: Reply): string =>
  reply.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");

describe("ScriptDriver", () => {
  it("plays the first entry that matches and has uses left", async () => {
    const driver = await open([
      { when: { user: "/special/" }, say: "special" },
      { say: "twice", times: 2 },
      { say: "always", forever: true },
    ]);
    const heard: string[] = [];
    for (const text of ["a", "special", "special", "b", "c"])
      heard.push(textOf(await ask(driver, { messages: [says(text)] })));
    expect(heard).toEqual(["twice", "special", "twice", "always", "always"]);
  });

  it("looks at turn, results and model; at the agent only where it is told", async () => {
    const call = { type: "tool_use" as const, id: "c", name: "bash", input: {} };
    const answered: WireMessage[] = [
      says("go"),
      { role: "assistant", content: [call] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "1 FAIL" }] },
    ];
    const driver = await open([
      {
        when: { result: { tool: "bash", contains: "FAIL", error: false }, turn: 2 },
        say: "saw {{result}}",
        forever: true,
      },
      { when: { model: "big" }, say: "big", forever: true },
      { when: { agent: "other" }, say: "agent", forever: true },
      { say: "rest", forever: true },
    ]);
    expect(textOf(await ask(driver, { messages: answered }))).toBe("saw 1 FAIL");
    expect(textOf(await ask(driver, { model: "big" }))).toBe("big");
    expect(textOf(await ask(driver, { metadata: { agent: "main" } }))).toBe("rest");
    expect(textOf(await ask(driver))).toBe("agent");
  });

  it("keeps a place per process, over several files", async () => {
    const places = new Places();
    const turns = [{ say: "first" }, { say: "second" }];
    expect(textOf(await ask(await open(turns, { places })))).toBe("first");
    expect(textOf(await ask(await open(turns, { places, pid: 2 })))).toBe("first");
    expect(textOf(await ask(await open(turns, { places })))).toBe("second");
  });

  it("spends an entry's faults before it plays it", async () => {
    const driver = await open([{ say: "ok", fault: { kind: "overloaded", times: 2, retryAfterMs: 10 } }]);
    for (const _ of [1, 2])
      await expect(ask(driver)).rejects.toMatchObject({ kind: "overloaded", retryAfterMs: 10 });
    expect(textOf(await ask(driver))).toBe("ok");
  });

  it.each([
    ["start", 0],
    ["block:1", 5],
    ["mid", 5],
  ])("strikes at %s", async (at, seen) => {
    const call = [{ tool: "view", args: { a: 1 } }];
    const driver = await open([{ say: "one", call, fault: { kind: "cut", at } }]);
    const events: StreamEvent[] = [];
    const run = async (): Promise<void> => {
      for await (const event of driver.stream(contractRequest(), none)) events.push(event);
    };
    await expect(run()).rejects.toMatchObject({ kind: "stream_malformed" });
    expect(events.filter(({ type }) => type !== "message_start").length).toBe(Math.max(0, seen - 2));
  });

  it("duplicates text, breaks JSON, sends nothing, on demand", async () => {
    const driver = await open([
      { say: "once", fault: { kind: "duplicate_text" }, when: { user: "dup" } },
      { call: [{ tool: "view" }], fault: { kind: "bad_json" }, when: { user: "bad" } },
      { say: "x", fault: { kind: "empty" }, when: { user: "empty" } },
    ]);
    const reply = (user: string): Promise<Reply> => ask(driver, { messages: [says(user)] });
    expect(textOf(await reply("dup"))).toBe("once");
    const [block] = (await reply("bad")).blocks;
    expect(block?.type === "tool_use" && isBadInput(block.input)).toBe(true);
    expect((await reply("empty")).blocks).toEqual([]);
  });

  it("stalls and paces by the clock it is given", async () => {
    const clock = new VirtualClock();
    const driver = await open(
      [{ say: "abcd", pace: { chunk: 2, delayMs: 10 }, fault: { kind: "stall", ms: 500, at: "mid" } }],
      { clock },
    );
    let done = false;
    const reply = ask(driver).finally(() => {
      done = true;
    });
    for (const ms of [10, 500, 10]) {
      await expect.poll(() => clock.pending).toBe(1);
      expect(done).toBe(false);
      await clock.advance(ms);
    }
    expect(textOf(await reply)).toBe("abcd");
  });

  it("never makes a reply up", async () => {
    const driver = await open([{ say: "one" }]);
    await ask(driver);
    await expect(ask(driver, { metadata: { agent: "main" } })).rejects.toMatchObject({
      code: "INVALID",
      message: "scenario s has nothing to play for agent main, turn 1",
    });
  });

  it("says which scenario is missing, and which template is wrong", async () => {
    const missing = new ScriptDriver(
      testCaller({ cwd: folder }),
      "no.yaml",
      new Places(),
      new VirtualClock(),
    );
    await expect(missing.prepare()).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await missing.check()).toMatchObject({ ok: false });
    await expect(ask(await open([{ say: "{{odd}}" }]))).rejects.toMatchObject({ code: "INVALID" });
  });

  it("gives equal replies to equal processes", async () => {
    const turns = [{ think: "t", say: "s", call: [{ tool: "view", args: { p: "{{cwd}}" } }] }];
    expect(await ask(await open(turns))).toEqual(await ask(await open(turns)));
  });
});
