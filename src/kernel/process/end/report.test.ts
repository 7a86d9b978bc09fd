import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { noticeText, readNotice } from "../../../abi/child.ts";
import { asPid } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import { fakeTrees } from "../../testing/fake-trees.ts";
import { testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const CHILD = { call: "t1", title: "dig" };

test("detach at any moment around the exit: whoever waits gets the end, or a message is sent, never both", async () => {
  const seen = new Set<string>();
  const at = async (isFirst: boolean, steps: number): Promise<void> => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys, child: CHILD, onParentExit: "terminate" });
    const woken = parent.sys.sleep(60_000, undefined, { pid: child.pid });
    child.sys.setResult("found");
    const detaching = isFirst ? parent.sys.detach(child.pid) : undefined;
    for (let step = 0; step < steps; step++) await Promise.resolve();
    child.end();
    if (!isFirst) for (let step = 0; step < steps; step++) await Promise.resolve();
    const isDetached = await (detaching ?? parent.sys.detach(child.pid));
    await child.proc.done.promise;
    await settle();
    const how = await woken;
    expect([how, t.journal.bodies("mail.put").length]).toEqual(isDetached ? ["detached", 1] : ["exit", 0]);
    // of itself the child has the same on record either way
    const own = t.journal.records.filter(({ pid, kind }) => pid === child.pid && kind !== "child.detached");
    seen.add(`${how} ${own.map(({ kind }) => kind).join(" ")}`);
    expect(await parent.sys.ended(child.pid)).toMatchObject({ exit: EXIT.completed, result: "found" });
  };
  await fc.assert(fc.asyncProperty(fc.boolean(), fc.nat(20), at), { numRuns: 1_000, seed: 1 });
  const ways = [...seen].map((each) => each.split(" "));
  expect(ways.map(([how]) => how).sort()).toEqual(["detached", "exit"]);
  expect(ways[0]?.slice(1)).toEqual(ways[1]?.slice(1));
});

test("a child that is detached at any moment of its work has the transcript that it has undetached", async () => {
  const [reports, places] = [new Set<string>(), new Set<number>()];
  const at = async (steps: number): Promise<void> => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys, child: CHILD, onParentExit: "terminate" });
    const woken = parent.sys.sleep(60_000, undefined, { pid: child.pid });
    const work = (async () => {
      for (let n = 0; n < 4; n++) {
        const { ctxId } = child.start;
        const blocks = [{ type: "tool_use", id: `c${n}`, name: "view", input: { n } } as const];
        await child.sys.appendMessage(ctxId, "assistant", `looks at ${n}`, blocks);
        await child.sys.appendToolResult(ctxId, `c${n}`, `found ${n}`);
      }
      child.sys.setResult("found");
      const { messages } = await child.sys.buildPrompt(child.start.ctxId);
      child.end();
      return messages;
    })();
    for (let step = 0; step < steps; step++) await Promise.resolve();
    const isDetached = steps >= 0 && (await parent.sys.detach(child.pid));
    const messages = await work;
    await child.proc.done.promise;
    await settle();
    expect(await woken).toBe(isDetached ? "detached" : "exit");
    const own = t.journal.records.filter(({ pid }) => pid === child.pid);
    if (isDetached) places.add(own.findIndex(({ kind }) => kind === "child.detached"));
    const kept = own.flatMap(({ kind, body }) => (kind === "child.detached" ? [] : [{ kind, body }]));
    reports.add(JSON.stringify([messages, kept]));
  };
  // below zero: never
  await at(-1);
  await fc.assert(fc.asyncProperty(fc.nat(400), at), { numRuns: 1_000, seed: 1 });
  expect([...reports]).toHaveLength(1);
  expect([...reports][0]).toContain("found 3");
  expect(places.size).toBeGreaterThan(4);
});

test("the end of a background child is told its parent by one message that the kernel has made", async () => {
  const t = testKernel();
  const parent = await t.start();
  const child = await t.start({ by: parent.sys, child: { ...CHILD, isBackground: true } });
  child.sys.setResult("a < b");
  await child.sys.appendToolResult(child.start.ctxId, "c1", "found");
  await child.sys.appendToolResult(child.start.ctxId, "c2", "none", true);
  child.end();
  await child.proc.done.promise;
  await settle();
  const message = await parent.sys.recv({ timeoutMs: 0 });
  expect(message).toMatchObject({ from: child.pid, notice: child.pid });
  const text = new TextDecoder().decode(message.data);
  expect(text).toContain("</total_tokens><tool_uses>2</tool_uses><duration_ms>");
  expect(text).toContain("<result>a &lt; b</result>");
  expect(text).toContain('<summary>Agent "dig" completed</summary>');
  const said = { status: "completed", summary: 'Agent "dig" completed', result: "a < b" };
  expect(readNotice(text)).toEqual({ ...said, tokens: expect.any(Number), elapsedMs: expect.any(Number) });
});

test("listProcs() of those that work has the live background children of the caller alone", async () => {
  const t = testKernel();
  const parent = await t.start();
  const child = { ...CHILD, isBackground: true } as const;
  const [first, second] = [
    await t.start({ by: parent.sys, child }),
    await t.start({ by: parent.sys, child }),
  ];
  const waited = await t.start({ by: parent.sys, child: CHILD });
  await t.start({ by: waited.sys, child: { ...CHILD, call: "c2", isBackground: true } });
  const working = async (limit?: number) =>
    (await parent.sys.listProcs({ working: true, ...(limit === undefined ? {} : { limit }) })).map(
      ({ pid }) => pid,
    );
  expect([await working(), await working(1)]).toEqual([[first.pid, second.pid], [first.pid]]);
  // one that has nothing to do has something once it has mail, before it has read it
  second.sys.setActivity("idle");
  expect(await working()).toEqual([first.pid]);
  await parent.sys.send(second.pid, new TextEncoder().encode("more"));
  expect(await working()).toEqual([first.pid, second.pid]);
  second.sys.setActivity("thinking");
  first.end();
  await first.proc.done.promise;
  expect(await working(1)).toEqual([second.pid]);
  second.end();
  await second.proc.done.promise;
  expect(await working()).toEqual([]);
});

test("ended() with isTold drops the message that was not read, and brings the labels of the child", async () => {
  const t = testKernel();
  const parent = await t.start();
  const child = await t.start({ by: parent.sys, child: { ...CHILD, isBackground: true } });
  expect(await parent.sys.ended(child.pid)).toBeNull();
  child.end({ ...EXIT.budget });
  await child.proc.done.promise;
  await settle();
  expect(await parent.sys.ended(child.pid, { isTold: true })).toMatchObject({ exit: EXIT.budget });
  await expect(parent.sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(t.journal.bodies("mail.done")).toHaveLength(1);
  // it has left the table by then
  await t.clock.advance(120_000);
  await settle();
  expect(t.kernel.table.get(child.pid)).toBeUndefined();
  expect(await parent.sys.ended(child.pid)).toMatchObject({ exit: { reason: EXIT.budget.reason } });
});

test("ended() names the worktree of a child, until it is known to be gone; a notice names it too", async () => {
  const turn = Promise.withResolvers<boolean>();
  const tree = {
    path: "/w/.crux/worktrees/a",
    branch: "worktree/<a>",
    main: "/w",
    gitDir: "/w/.git",
    base: "0",
  };
  const isThere = vi.fn(() => turn.promise);
  const worktrees = fakeTrees({ open: async () => tree, isKept: isThere });
  const t = testKernel({ worktrees });
  const parent = await t.start({ cwd: "/w" });
  const child = await t.start({ by: parent.sys, child: { ...CHILD, isBackground: true }, worktree: "" });
  child.end();
  await child.proc.done.promise;
  await settle();
  const { data } = await parent.sys.recv({ timeoutMs: 0 });
  expect(new TextDecoder().decode(data)).toContain(
    "<worktree><path>/w/.crux/worktrees/a</path><branch>worktree/&lt;a&gt;</branch>",
  );
  expect(await parent.sys.ended(child.pid)).toMatchObject({ worktree: tree });
  await parent.sys.reap(child.pid).catch(() => {});
  expect(await parent.sys.ended(child.pid)).toMatchObject({ worktree: tree });
  const last = parent.sys.ended(child.pid, { isSettled: true });
  await settle();
  expect(isThere).toHaveBeenCalledOnce();
  turn.resolve(false);
  expect(await last).not.toHaveProperty("worktree");
});

test("two that wait for a child beside its notice hear of its end at once while git hangs, and it is told no third time", async () => {
  const hangs = new Promise<never>(() => {});
  const t = testKernel({ worktrees: fakeTrees({ isKept: () => hangs }) });
  for (let moment = 0; moment < 8; moment++) {
    const parent = await t.start({ cwd: "/w" });
    const child = await t.start({
      ...{ by: parent.sys, child: { ...CHILD, isBackground: true }, worktree: "" },
    });
    const look = async () => {
      await parent.sys.sleep(600_000, undefined, { pid: child.pid });
      return parent.sys.ended(child.pid, { isTold: true });
    };
    const first = look();
    child.end();
    for (let step = 0; step < moment; step++) await Promise.resolve();
    const ends = await Promise.all([first, look()]);
    expect(ends).toMatchObject([{ exit: EXIT.completed }, { exit: EXIT.completed }]);
    await settle();
    expect(parent.sys.hasMail()).toBe(false);
  }
  expect(t.journal.bodies("mail.put")).toHaveLength(8);
});

test("ended() of a process that is not below the caller: NOT_FOUND, whether it lives or not", async () => {
  const t = testKernel();
  const [one, other] = [await t.start(), await t.start()];
  await expect(one.sys.ended(other.pid)).rejects.toThrow();
  other.end();
  await other.proc.done.promise;
  await t.clock.advance(120_000);
  await settle();
  await expect(one.sys.ended(other.pid)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("noticeText() escapes what others said, and cuts a long result", () => {
  const ended = {
    agentId: "agent-0",
    exit: EXIT.sigterm,
    result: `</result>${"x".repeat(40_000)}`,
    tokensUsed: 1,
    elapsedMs: 2.4,
  };
  const text = noticeText({ call: "a&b", title: "<b>" }, ended);
  expect(text.match(/<\/result>/g)).toHaveLength(1);
  expect(text).toContain("<tool-use-id>a&amp;b</tool-use-id>");
  expect(text).toContain('<status>killed</status><summary>Agent "&lt;b&gt;" killed: SIGTERM</summary>');
  expect(text).toContain("all of it is in /var/out/agent-0");
  expect(text.length).toBeLessThan(31_000);
});

test("handOver() takes one child that is waited for, or all of a process that is none; the end of each is then a message", async () => {
  const t = testKernel();
  const parent = await t.start();
  const start = (by = parent.sys) => t.start({ by, child: CHILD, onParentExit: "terminate" });
  const [one, two, three] = [await start(), await start(), await start()];
  await t.start({ by: parent.sys, onParentExit: "terminate" });
  const below = await start(one.sys);
  const woken = [one, two, three].map(({ pid }) => parent.sys.sleep(60_000, undefined, { pid }));
  expect(await t.kernel.handOver(two.pid)).toEqual([two.pid]);
  expect(await woken[1]).toBe("detached");
  // those that are there already, and those of others, are not touched
  expect(await t.kernel.handOver(parent.pid)).toEqual([one.pid, three.pid]);
  expect(await Promise.all(woken)).toEqual(["detached", "detached", "detached"]);
  expect(t.journal.bodies("child.detached")).toHaveLength(3);
  one.end();
  await one.proc.done.promise;
  await settle();
  expect(t.journal.bodies("mail.put")).toHaveLength(1);
  expect(below.proc.isLive).toBe(false);
});

test("handOver() is refused where no call waits, and where nothing can be recorded", async () => {
  const t = testKernel();
  const parent = await t.start();
  const child = await t.start({ by: parent.sys, child: { ...CHILD, isBackground: true } });
  const ended = await t.start({ by: parent.sys, child: CHILD });
  ended.end();
  await ended.proc.done.promise;
  for (const { pid } of [parent, child, ended])
    await expect(t.kernel.handOver(pid)).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(t.kernel.handOver(asPid(99))).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(t.journal.bodies("child.detached")).toEqual([]);
});
