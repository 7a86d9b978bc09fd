import { describe, expect, test } from "vitest";
import type { ChildMark } from "../../abi/child.ts";
import type { Pid } from "../../abi/ids.ts";
import { SIGNALS } from "../../abi/process.ts";
import { type Started, type TestKernel, testKernel, text } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";
import { taskPlaceOf } from "./task-place.ts";
import { teamConfig } from "./team.ts";

const mark = (name: string, more: Partial<ChildMark> = {}): ChildMark => ({
  ...{ call: `c-${name}`, title: name, name, team: "crew", isBackground: true },
  ...more,
});

async function lead(t: TestKernel): Promise<Started> {
  const made = await t.start();
  await made.sys.joinGroup(made.pid, "crew");
  return made;
}
const join = (t: TestKernel, { sys }: Started, name: string, more: Partial<ChildMark> = {}) =>
  t.start({ by: sys, group: "crew", child: mark(name, more), ...(more.plansFirst ? { plan: true } : {}) });
const read = async ({ sys }: Started) => JSON.parse(text((await sys.recv({ timeoutMs: 0 })).data));

describe("a team", () => {
  test("takes each name once, only from its lead; a member starts only agents that it waits for", async () => {
    const t = testKernel();
    const own = await lead(t);
    const alice = await join(t, own, "alice");
    await expect(join(t, own, "alice")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(join(t, own, "bob", { team: "other" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const below = (child: ChildMark) => t.start({ by: alice.sys, child });
    await expect(join(t, alice, "eve")).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(below({ call: "c", title: "x", isBackground: true })).rejects.toMatchObject({
      code: "PERMISSION",
    });
    expect((await below({ call: "c", title: "x" })).proc.isLive).toBe(true);
    // a name is free again at the end
    alice.end();
    await alice.proc.done.promise;
    expect((await join(t, own, "alice")).pid).toBeGreaterThan(alice.pid);
  });

  test("shows its members, shares its list, and lets them write to one another", async () => {
    const t = testKernel();
    const own = await lead(t);
    const [alice, bob] = [await join(t, own, "alice"), await join(t, own, "bob")];
    expect(teamConfig(t.kernel, bob.pid)).toMatchObject({
      name: "crew",
      config: { members: [{ name: "alice", planModeRequired: false }, { name: "bob" }] },
    });
    expect(teamConfig(t.kernel, own.pid)).toBeNull();
    bob.sys.setActivity("idle");
    expect(taskPlaceOf(t.kernel, alice.pid)).toEqual({
      list: "crew",
      leader: own.pid,
      members: [
        { pid: alice.pid, name: "alice", isIdle: false },
        { pid: bob.pid, name: "bob", isIdle: true },
      ],
    });
    await alice.sys.send(bob.pid, new TextEncoder().encode('"hello"'));
    expect(await read(bob)).toBe("hello");
  });

  test("a member that has nothing to do wakes its lead, whose run may wait for just that", async () => {
    const t = testKernel();
    const own = await lead(t);
    const alice = await join(t, own, "alice");
    const slept = own.sys.sleep(60_000);
    alice.sys.setActivity("idle");
    expect(await slept).toBe("signal");
  });

  test("has a member at work until what it had taken is free; a notice of that comes once, also over daemons", async () => {
    const released = Promise.withResolvers<void>();
    const t = testKernel({ onExited: () => released.promise });
    const own = await lead(t);
    const alice = await join(t, own, "alice");
    alice.end();
    await settle();
    const atWork = async (sys = own.sys) => (await sys.listProcs({ working: true })).map(({ pid }) => pid);
    expect(await atWork()).toEqual([alice.pid]);
    const slept = own.sys.sleep(60_000);
    released.resolve();
    expect([await slept, await atWork()]).toEqual(["message", []]);
    const isTold = ({ kernel }: TestKernel) => kernel.notify(own.pid, { text: "task 1 is free", key: "k" });
    expect([await isTold(t), await isTold(t)]).toEqual([true, true]);
    await t.init.kill(own.pid, SIGNALS.SIGPAUSE);
    await t.journal.sync();
    t.journal.crash();
    const seen: unknown[] = [];
    const onReturned = async (pids: readonly Pid[]) => void seen.push(pids, await isTold(next));
    const next: TestKernel = testKernel({ onReturned }, t.journal);
    await next.kernel.recover();
    const notes = next.journal.bodies("mail.put").filter((body) => (body as { from: Pid }).from === own.pid);
    expect([seen, notes.length]).toEqual([[[own.pid], true], 1]);
  });
});

test("a lead is told once of a member that works and makes no step for ten minutes; not of one that rests, waits or is paused", async () => {
  const t = testKernel();
  const own = await lead(t);
  const [ada, bea, eve, fay] = [
    await join(t, own, "ada"),
    await join(t, own, "bea"),
    await join(t, own, "eve"),
    await join(t, own, "fay"),
  ];
  for (const { sys } of [ada, bea, eve, fay]) sys.setActivity("thinking");
  bea.sys.setActivity("idle");
  eve.sys.setActivity("waiting");
  await t.init.kill(fay.pid, 4);
  const minutes = (count: number) => t.clock.advance(count * 60_000);
  await minutes(5);
  ada.sys.onStep(1);
  await minutes(10);
  expect(own.sys.hasMail()).toBe(false);
  await minutes(20);
  const said = text((await own.sys.recv({ timeoutMs: 0 })).data);
  expect(said).toContain(`ada (pid ${ada.pid}) of team crew works and has made no step for 10 minutes`);
  expect(own.sys.hasMail()).toBe(false);
  // it moves, and stalls again
  ada.sys.onStep(2);
  await minutes(11);
  expect(own.sys.hasMail()).toBe(true);
  for (const each of [ada, bea, eve, fay, own]) await t.init.kill(each.pid, 2);
  await t.clock.advance(200_000);
  expect(t.clock.pending).toBe(0);
});

describe("a member that plans first", () => {
  const leave = (t: TestKernel, pid: Pid) =>
    t.kernel.plans.leave(pid, { plan: "the plan", prompts: [] }, new AbortController().signal);

  test("keeps planning until its lead approves the request by its number; other answers change nothing", async () => {
    const t = testKernel();
    const own = await t.start({ permissionMode: "accept_edits" });
    await own.sys.joinGroup(own.pid, "crew");
    const [alice, bob] = [await join(t, own, "alice", { plansFirst: true }), await join(t, own, "bob")];
    expect(alice.proc.mode).toBe("plan");
    const asked = await leave(t, alice.pid);
    const requestId = asked.kind === "asked" ? asked.requestId : "";
    expect(await read(own)).toMatchObject({
      type: "plan_approval_request",
      request_id: requestId,
      plan: "the plan",
    });
    const answer = (by: Pid, more: object) =>
      t.kernel.plans.answer(by, { pid: alice.pid, requestId, approve: true, ...more });
    const stranger = await t.start();
    await expect(answer(bob.pid, {})).rejects.toMatchObject({ code: "INVALID" });
    await expect(answer(stranger.pid, {})).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(answer(own.pid, { requestId: "plan-0" })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(answer(own.pid, { pid: bob.pid })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect([alice.proc.mode, alice.sys.hasMail()]).toEqual(["plan", false]);
    // each that was for it is in its log, also that of a peer and of a stranger
    const lines: string[] = [];
    for await (const piece of await t.kernel.logs(alice.pid, { tail: 9, follow: false }))
      if ("entry" in piece && piece.entry.level === "warn") lines.push(piece.entry.message);
    expect(lines).toEqual(
      [
        `process ${bob.pid} does not lead the team of process ${alice.pid}`,
        `process ${alice.pid} has no plan that process ${stranger.pid} approves`,
        `no plan of process ${alice.pid} waits under plan-0`,
      ].map((why) => `${why}: the answer was dropped`),
    );
    await answer(own.pid, { approve: false, feedback: "which files?" });
    expect([alice.proc.mode, await read(alice)]).toEqual([
      "plan",
      { type: "plan_approval_response", request_id: requestId, approve: false, feedback: "which files?" },
    ]);
    // that request is over
    await expect(answer(own.pid, {})).rejects.toMatchObject({ code: "CONFLICT" });
    const next = await leave(t, alice.pid);
    await answer(own.pid, { requestId: next.kind === "asked" ? next.requestId : "" });
    expect([alice.proc.mode, await read(alice)]).toMatchObject(["accept_edits", { approve: true }]);
  });
});
