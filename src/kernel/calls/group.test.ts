/** The calls of groups, through the gate. The rules of membership are in ipc/groups.test.ts. */
import { describe, expect, test } from "vitest";
import { Fault, printed } from "../../abi/errors.ts";
import { asPgid, asPid } from "../../abi/ids.ts";
import { EXIT, type Signal } from "../../abi/process.ts";
import { NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function members(t: TestKernel, count: number, group: string): Promise<Started[]> {
  const started: Started[] = [];
  for (let n = 0; n < count; n++) started.push(await t.start({ group }));
  return started;
}

describe("joinGroup()", () => {
  test("makes a group on first use, by name; 0 makes a new one each time", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    expect(await sys.joinGroup(pid, "authors")).toBe(1);
    expect(await sys.joinGroup(pid, asPgid(0))).toBe(2);
    expect(await sys.joinGroup(pid, asPgid(0))).toBe(3);
    expect(await sys.joinGroup(pid, "authors")).toBe(1);
    expect(await sys.joinGroup(pid, asPgid(2))).toBe(2);
    expect(t.kernel.listGroups()).toEqual([
      { id: 1, name: "authors", pids: [1] },
      { id: 2, name: "", pids: [1] },
      { id: 3, name: "", pids: [1] },
    ]);
    expect(t.kernel.info(proc).groups).toEqual([1, 2, 3]);
  });

  test("needs control over the process", async () => {
    const t = testKernel();
    const parent = await t.start();
    const [child, stranger] = [await t.start({ by: parent.sys }), await t.start()];
    await expect(child.sys.joinGroup(parent.pid, "a")).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(stranger.sys.joinGroup(child.pid, "a")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(t.init.joinGroup(asPid(0), "a")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await parent.sys.joinGroup(child.pid, "a");
    expect(await t.init.getProcGroup("a")).toEqual([child.pid]);
  });

  test("does not let a stranger in, so that nobody comes to see what it did not", async () => {
    const t = testKernel();
    const [a, b, stranger] = [await t.start(), await t.start(), await t.start()];
    for (const { pid } of [a, b]) await t.init.joinGroup(pid, "authors");
    const error = await stranger.sys.joinGroup(stranger.pid, "authors").catch((e: unknown) => e);
    expect(printed(error)).toBe(
      "[PERMISSION] PID 3 JoinGroup: group authors is of others: " +
        "its maker, a member, or the parent of one can let process 3 in",
    );
    expect((await stranger.sys.listProcs()).map(({ pid }) => pid)).toEqual([3]);
    expect((await a.sys.listProcs()).map(({ pid }) => pid)).toEqual([1, 2]);
  });

  test("by a member, its child or its parent brings its own in", async () => {
    const t = testKernel();
    const parent = await t.start();
    const member = await t.start({ by: parent.sys });
    const [child, sibling] = [await t.start({ by: member.sys }), await t.start({ by: parent.sys })];
    await t.init.joinGroup(member.pid, "authors");
    await child.sys.joinGroup(child.pid, "authors");
    await expect(sibling.sys.joinGroup(sibling.pid, "authors")).rejects.toMatchObject({ code: "PERMISSION" });
    await parent.sys.joinGroup(sibling.pid, "authors");
    await parent.sys.joinGroup(parent.pid, "authors");
    expect(await t.init.getProcGroup("authors")).toEqual([1, 2, 3, 4]);
  });

  test("of one that has ended is CONFLICT", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    end();
    await proc.done.promise;
    await expect(t.init.joinGroup(pid, "a")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(t.kernel.listGroups()).toEqual([]);
  });

  test("is journalled once; a spawn into a group with the spawn", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start({ group: "authors" });
    const synced = t.journal.records.map(({ kind }) => kind);
    expect(synced.filter((kind) => kind === "process.spawned" || kind === "group.join")).toEqual([
      "process.spawned",
      "group.join",
    ]);
    await sys.joinGroup(pid, "authors");
    await sys.joinGroup(pid, "readers");
    await sys.joinGroup(pid, "readers");
    await sys.leaveGroup(pid, "authors");
    expect(t.journal.bodies("group.join")).toEqual([
      { group: 1, name: "authors", maker: 0 },
      { group: 2, name: "readers", maker: pid },
    ]);
    expect(t.journal.bodies("group.leave")).toEqual([{ group: 1 }]);
  });
});

test("a client hears of a join or a leave once it is on the disk; a process at once", async () => {
  const t = testKernel();
  const { pid, sys } = await t.start();
  const gate = Promise.withResolvers<void>();
  t.journal.gate = gate.promise;
  expect(await sys.joinGroup(pid, "mine")).toBe(1);
  const heard: unknown[] = [];
  const joined = t.init.joinGroup(pid, "team").then((group) => heard.push(group));
  const left = t.init.leaveGroup(pid, "mine").then(() => heard.push("left"));
  await settle();
  expect(heard).toEqual([]);
  gate.resolve();
  await Promise.all([joined, left]);
  expect(heard).toEqual([2, "left"]);
});

describe("a spawn into a group", () => {
  test("that is refused leaves no process", async () => {
    const t = testKernel();
    await t.start({ group: "authors" });
    const stranger = await t.start();
    await expect(stranger.sys.spawn("x", null, { group: "authors" })).rejects.toMatchObject({
      code: "PERMISSION",
      syscall: "Spawn",
    });
    await expect(stranger.sys.spawn("x", null, { group: "no name" })).rejects.toMatchObject({
      code: "INVALID",
    });
    expect(t.kernel.table.size).toBe(2);
  });

  test("that fails later leaves no member", async () => {
    const t = testKernel();
    t.journal.refused.add("process.spawned");
    await expect(t.init.spawn("x", null, { group: "authors" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect(t.kernel.listGroups()).toEqual([]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("leaveGroup()", () => {
  test("of no member, or no group, is NOT_FOUND; the last one removes the group and frees its name", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await expect(sys.leaveGroup(pid, "authors")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "group not found: authors",
    });
    await t.start({ group: "authors" });
    await expect(t.init.leaveGroup(pid, "authors")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "process 1 is not a member of group authors",
    });
    await t.init.leaveGroup(asPid(2), asPgid(1));
    expect(t.kernel.listGroups()).toEqual([]);
    expect(await sys.joinGroup(pid, "authors")).toBe(2);
  });

  test("takes the sight away", async () => {
    const t = testKernel();
    const [a, b] = (await members(t, 2, "authors")) as [Started, Started];
    expect(await a.sys.listProcs()).toHaveLength(2);
    await b.sys.leaveGroup(b.pid, "authors");
    expect(await a.sys.listProcs()).toHaveLength(1);
  });
});

describe("getProcGroup()", () => {
  test("gives the members by rising pid, as far as the caller sees them", async () => {
    const t = testKernel();
    const stranger = await t.start();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    const other = await t.start();
    for (const { pid } of [other, child]) await t.init.joinGroup(pid, "authors");
    expect(await t.init.getProcGroup("authors")).toEqual([child.pid, other.pid]);
    expect(await child.sys.getProcGroup("authors")).toEqual([child.pid, other.pid]);
    expect(await parent.sys.getProcGroup("authors")).toEqual([child.pid]);
    await expect(stranger.sys.getProcGroup("authors")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "group not found: authors",
    });
    await expect(t.init.getProcGroup(asPgid(9))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("gives its maker all, wherever they are", async () => {
    const t = testKernel();
    const maker = await t.start();
    const child = await t.start({ by: maker.sys });
    await maker.sys.joinGroup(child.pid, "authors");
    const other = await t.start();
    await t.init.joinGroup(other.pid, "authors");
    expect(await maker.sys.getProcGroup("authors")).toEqual([child.pid, other.pid]);
  });
});

describe("signalGroup()", () => {
  test("100 members, one dead: 99 reached", async () => {
    const t = testKernel();
    const all = await members(t, 100, "authors");
    all[42]?.end();
    await all[42]?.proc.done.promise;
    expect(await t.init.signalGroup("authors", 4)).toBe(99);
    expect(all.filter(({ proc }) => proc.isPaused)).toHaveLength(99);
    expect(await t.init.signalGroup("authors", 1)).toBe(99);
    for (const { pid } of all) await t.init.wait(pid);
    expect(t.kernel.listGroups()).toEqual([]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("only its maker and pid 0 may: a member, an ancestor and a stranger are PERMISSION", async () => {
    const t = testKernel();
    const parent = await t.start();
    const maker = await t.start({ by: parent.sys });
    const [member, stranger] = [await t.start({ by: maker.sys }), await t.start()];
    await maker.sys.joinGroup(member.pid, "authors");
    for (const { sys } of [parent, member, stranger])
      await expect(sys.signalGroup("authors", 4)).rejects.toMatchObject({ code: "PERMISSION" });
    expect(member.proc.isPaused).toBe(false);
    expect(await maker.sys.signalGroup("authors", 4)).toBe(1);
    expect(await t.init.signalGroup("authors", 5)).toBe(1);
  });

  test("goes on past failures, and counts who was reached", async () => {
    const t = testKernel();
    const [one, two, three] = (await members(t, 3, "authors")) as [Started, Started, Started];
    const { deliver } = t.kernel;
    t.kernel.deliver = (proc, signal) =>
      proc.pid === two.pid
        ? Promise.reject(new Fault({ code: "DRIVER", message: "no such program" }))
        : deliver.call(t.kernel, proc, signal);
    expect(await t.init.signalGroup("authors", 1)).toBe(2);
    expect(t.logs).toEqual(["error: pid 2: a signal to its group: [DRIVER] no such program"]);
    expect([one, two, three].map(({ proc }) => proc.ending.verdict)).toEqual([
      EXIT.sigterm,
      null,
      EXIT.sigterm,
    ]);
  });

  test("reaches who blocks or ignores it, and tells all in one step", async () => {
    const t = testKernel();
    const [one, two, three] = (await members(t, 3, "authors")) as [Started, Started, Started];
    await one.sys.sigBlock(one.pid, 1);
    await two.sys.sigHandle(1, "ignore");
    const told = t.init.signalGroup("authors", 1);
    expect([one, two, three].map(({ proc }) => proc.ending.verdict)).toEqual([null, null, EXIT.sigterm]);
    expect(await told).toBe(3);
  });

  test("is recorded before the sender hears of it", async () => {
    const t = testKernel();
    await members(t, 3, "authors");
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    let heard = false;
    const told = t.init.signalGroup("authors", 4).then(() => {
      heard = true;
    });
    await settle();
    expect(heard).toBe(false);
    gate.resolve();
    await told;
    expect(t.journal.records.filter(({ kind }) => kind === "signal")).toHaveLength(3);
  });

  test("of no group is NOT_FOUND, of no signal INVALID", async () => {
    const t = testKernel();
    await members(t, 1, "authors");
    await expect(t.init.signalGroup("nobody", 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(t.init.signalGroup("authors", 6 as Signal)).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("reaping", () => {
  test("leaves all groups; a zombie is still a member", async () => {
    const t = testKernel();
    const [one, two] = (await members(t, 2, "authors")) as [Started, Started];
    await one.sys.joinGroup(one.pid, asPgid(0));
    one.end();
    await one.proc.done.promise;
    expect(await t.init.getProcGroup("authors")).toEqual([one.pid, two.pid]);
    await t.init.wait(one.pid);
    expect(t.kernel.listGroups()).toEqual([{ id: 1, name: "authors", pids: [two.pid] }]);
  });
});
