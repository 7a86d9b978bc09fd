/** A view that has moved: after a crash, in a fork, in a replay and undone, the model sees the same bytes. */
import { expect, test } from "vitest";
import type { ContextMove } from "../../abi/context.ts";
import { asProcUuid } from "../../abi/ids.ts";
import type { Block } from "../../abi/llm.ts";
import { EXIT } from "../../abi/process.ts";
import type { Begun, Program } from "../../abi/program.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import { testKernel } from "../../kernel/testing/test-kernel.ts";

const BOUNDARY = { layer: "full", trigger: "auto", before: 9, after: 1 } as const;
const LONG = `${"line\n".repeat(200)}exit 0`;

const callOf = (id: string): Block => ({ type: "tool_use", id, name: "view", input: {} });

/** 1 the intent, 2 a call, 3 its result, 4 a call, 5 its result; then a view with a summary, 1 and 4 on. */
async function talk(sys: Sys, { ctxId }: Begun["start"]): Promise<void> {
  for (const id of ["a", "b"]) {
    await sys.appendMessage(ctxId, "assistant", "", [callOf(id)]);
    await sys.appendToolResult(ctxId, id, LONG);
  }
  const { head: from } = await sys.ctxView(ctxId);
  const move: ContextMove = {
    ...{ from, put: "<crux-note>summary</crux-note>", keep: [[1, 1]], tailFrom: 4 },
    ...{ clears: [{ n: 5, keep: 100 }], boundary: BOUNDARY },
  };
  await sys.ctxMove(ctxId, move);
  await sys.appendMessage(ctxId, "user", "and now?");
}

const shown = async (sys: Sys, { ctxId }: Begun["start"]): Promise<readonly ContextMessage[]> =>
  (await sys.buildPrompt(ctxId)).messages;

test("a crash and a fork keep the view; undo has the old messages again, and those since", async () => {
  const t = testKernel();
  const { pid, sys, start } = await t.start();
  const before = await shown(sys, start);
  await talk(sys, start);
  await sys.appendMessage(start.ctxId, "assistant", "fine");
  const moved = await shown(sys, start);
  expect(moved.map(({ content }) => content.slice(0, 30))).toEqual([
    ...["<crux-note>summary</crux-note>", before[0]?.content, "", LONG.slice(0, 30), "and now?", "fine"],
  ]);
  await t.init.kill(pid, 4);
  await t.journal.sync();
  t.journal.crash();
  let named = 0;
  const name = () => `0002${`${++named}`.padStart(12, "0")}`;
  const uuid = () => asProcUuid(`00000000-${name()}`);
  const next = testKernel({ nonce: name, uuid }, t.journal);
  await next.kernel.recover();
  const back = next.proc(pid);
  await back.past.recall();
  expect(next.kernel.contexts.prompt(back.ctxId).messages).toEqual(moved);
  expect(back.seen.epoch).toBe(1);
  const fork = await next.kernel.forks.fork(pid, {});
  await next.kernel.sessions.awake(fork.pid);
  const copy = next.proc(fork.pid);
  await copy.past.recall();
  expect(next.kernel.contexts.prompt(copy.ctxId).messages).toEqual(moved);

  const handle = next.kernel.handle(back, null);
  const head = await handle.ctxUndo(back.ctxId, 1);
  expect(head).toBe(2);
  const { messages } = await handle.buildPrompt(back.ctxId);
  expect(messages.map(({ content }) => content)).toEqual([
    before[0]?.content,
    "",
    LONG,
    "",
    LONG,
    "and now?",
    "fine",
  ]);
  await expect(handle.ctxUndo(back.ctxId, 2)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(handle.ctxUndo(back.ctxId, 0)).rejects.toMatchObject({ code: "CONFLICT" });
  // the fork has a view of its own
  expect(next.kernel.contexts.prompt(copy.ctxId).messages).toEqual(moved);
});

test("a replay makes the same views of the same records, and finds another move", async () => {
  const work =
    (tailFrom: number): Program =>
    async (sys, start) => {
      await talk(sys, start);
      await sys.ctxUndo(start.ctxId, 1);
      const { messages } = await sys.buildPrompt(start.ctxId);
      sys.checkpoint({ kept: null, chars: messages.map(({ content }) => content.length) });
      const clears = [{ n: 3 }];
      await sys.ctxMove(start.ctxId, { from: 2, keep: [], clears, tailFrom, boundary: BOUNDARY });
      await sys.appendMessage(start.ctxId, "assistant", "done");
      return EXIT.completed;
    };
  const t = testKernel({ version: "1" });
  t.programs.set("work", work(1));
  const pid = await t.init.spawn("work", null);
  await t.proc(pid).done.promise;
  expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", records: 11 });
  t.programs.set("work", work(2));
  expect(await t.kernel.replays.replay(pid)).toMatchObject({
    outcome: "differs",
    difference: { what: "ctx.move" },
  });
});

test("a tool does not move the view of its process, nor another process", async () => {
  const t = testKernel();
  const { proc, sys, start } = await t.start();
  const other = await t.start();
  await talk(sys, start);
  const scoped = t.kernel.handle(proc, { effects: [], lasting: new Set() } as never);
  const move = { from: 1, keep: [], clears: [], tailFrom: 7, boundary: BOUNDARY };
  for (const handle of [scoped, other.sys]) {
    await expect(handle.ctxMove(start.ctxId, move)).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(handle.ctxUndo(start.ctxId, 1)).rejects.toMatchObject({ code: "PERMISSION" });
  }
});

test("contextStat() names a model whose window is not known once it has answered", async () => {
  const t = testKernel();
  const { pid, sys, start } = await t.start();
  expect((await t.kernel.views.stat(pid)).device).toBe("");
  await sys.appendMessage(start.ctxId, "assistant", "fine");
  expect((await t.kernel.views.stat(pid)).device).toBe(start.modelDevice);
});

test("contextStat() names the model that answered last, also after a crash and in a fork", async () => {
  const t = testKernel();
  const { pid, proc } = await t.start();
  expect((await t.kernel.views.stat(pid)).model).toBe("");
  const answer = (purpose: string, model: string) => ({
    ok: true,
    cost: { tokens: 9, usd: 0, purpose, model },
  });
  const own = { proc: proc.seed.uuid, pid, kind: "call.result", v: 1 } as const;
  const bodies = [answer("main", "m-1"), answer("title", "small"), { ok: true }];
  await t.journal.append(bodies.map((body) => ({ ...own, body })));
  expect((await t.kernel.views.stat(pid)).model).toBe("m-1");
  t.journal.crash();
  const next = testKernel({ nonce: () => "c".repeat(16), uuid: () => asProcUuid("00000000-f") }, t.journal);
  await next.kernel.recover();
  await next.proc(pid).past.recall();
  expect(next.proc(pid).model.answering).toBe("m-1");
  const fork = await next.kernel.forks.fork(pid, {});
  expect((await next.kernel.views.stat(fork.pid)).model).toBe("m-1");
});

test("contextStat() in brief reads no message that its model has counted", async () => {
  const t = testKernel();
  const { pid, sys, start } = await t.start();
  for (const text of ["one", "two", "three"]) await sys.appendMessage(start.ctxId, "user", text);
  const gauge = { device: start.modelDevice, model: "m", window: 10_000, maxOutput: 1_000 };
  const usual = { auto: true, compact: true, ratio: 1, beside: {}, breaker: null };
  sys.measured({ ...gauge, ...usual, reported: 40 });
  await sys.appendMessage(start.ctxId, "user", "four");
  const whole = await t.kernel.views.stat(pid);
  const read: number[] = [];
  const { readAt } = t.journal;
  t.journal.readAt = (proc, seqs) => {
    read.push(...seqs);
    return readAt.call(t.journal, proc, seqs);
  };
  const { parts: _, messages, ...same } = await t.kernel.views.stat(pid, { isBrief: true });
  const { parts: __, messages: all, ...before } = whole;
  expect(same).toEqual(before);
  expect(all).toHaveLength(5);
  expect([messages.length, read.length]).toEqual([1, 1]);
});
