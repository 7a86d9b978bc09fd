import { describe, expect, test, vi } from "vitest";
import { Fault } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { RuleText } from "../../../abi/rules.ts";
import { resume } from "../../../history/recover/wake.ts";
import { fakeTrees, treeNamed } from "../../testing/fake-trees.ts";
import { isSubset } from "../../testing/is-subset.ts";
import type { MemoryJournal } from "../../testing/memory-journal.ts";
import { type TestKernel, testKernel, text } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";
import { subjectOf } from "../subject.ts";

const never = new AbortController().signal;
const A = treeNamed("a");
const WALL = { dir: A.main, open: A.path, gitDir: A.gitDir };
const OTHERS = { path: "/lib", dir: "/w/sub" };

const enter = (t: TestKernel, pid: Pid, name = "a") => t.kernel.trees.enter(pid, name, never);
const leave = (t: TestKernel, pid: Pid, removes = false) =>
  t.kernel.trees.leave(pid, { removes, discards: false }, never);
const start = (t: TestKernel, more = {}) => t.start({ cwd: "/w", dirs: [OTHERS.path, OTHERS.dir], ...more });

describe("a process that enters a worktree", () => {
  test("works there with the checkout closed to it, keeps its project's own rules, and leaves as it came", async () => {
    const deny = (root: string): RuleText => ({
      ...{ source: "localSettings", behavior: "deny", text: `edit(/${root}/secret)` },
    });
    const t = testKernel({ worktrees: fakeTrees() });
    Object.assign(t.permit, { restrictions: (root = "/w") => [deny(root)] });
    const { pid, proc } = await start(t);
    const before = subjectOf(t.kernel, proc);
    expect(await enter(t, pid)).toEqual(A);
    const there = subjectOf(t.kernel, proc);
    expect(there).toMatchObject({ cwd: A.path, roots: [A.path, OTHERS.path] });
    expect(there.rights).toMatchObject({ walls: [WALL], deny: [deny(A.path)] });
    expect(isSubset(there.rights!, before.rights!)).toBe(true);
    // one object as long as nothing changes: the policy reads its rules once
    expect(subjectOf(t.kernel, proc).rights).toBe(there.rights);
    await expect(enter(t, pid, "b")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await leave(t, pid)).toEqual({ worktree: A, cwd: "/w" });
    expect(subjectOf(t.kernel, proc)).toEqual(before);
    await expect(leave(t, pid)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(t.journal.bodies("worktree.enter")).toEqual([{ worktree: A }]);
    expect(t.journal.bodies("worktree.exit")).toEqual([{}]);
  });

  test("starts what works there too, behind the same wall; none of it enters another", async () => {
    const t = testKernel({ worktrees: fakeTrees() });
    const { pid, sys } = await start(t);
    await enter(t, pid);
    const child = await t.start({ by: sys, child: { call: "c", title: "x" } });
    expect([child.proc.cwd, child.proc.seed.rights.walls]).toEqual([A.path, [WALL]]);
    await expect(t.start({ by: sys, cwd: "/w" })).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(enter(t, child.pid, "b")).rejects.toMatchObject({ code: "PERMISSION" });
    const remove = leave(t, pid, true);
    await expect(remove).rejects.toMatchObject({
      ...{ code: "CONFLICT", message: expect.stringContaining(`work in ${A.path}: ${child.pid}`) },
    });
    child.end();
    await child.proc.done.promise;
    await leave(t, pid, true);
    expect(t.journal.bodies("worktree.exit")).toHaveLength(1);
  });

  test("stays where git refuses to remove it, and moves nowhere without a sandbox", async () => {
    const remove = vi.fn(async () => {
      throw new Fault({ code: "CONFLICT", message: "1 commit would be lost" });
    });
    const t = testKernel({ worktrees: fakeTrees({ remove }) });
    const { pid, proc } = await start(t);
    await enter(t, pid);
    await expect(leave(t, pid, true)).rejects.toMatchObject({ code: "CONFLICT" });
    expect([proc.cwd, t.journal.bodies("worktree.exit")]).toEqual([A.path, []]);
    expect(remove).toHaveBeenCalledExactlyOnceWith(
      A,
      { owner: `process ${proc.seed.uuid}`, discards: false },
      expect.anything(),
    );
    const off = testKernel({ worktrees: fakeTrees() });
    Object.assign(off.permit, { sandboxMode: "off" });
    const other = await start(off);
    await expect(enter(off, other.pid)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(other.proc.cwd).toBe("/w");
  });

  test("is there again after a restart, and a fork of it too; where the worktree is gone it is told, and works in its folder", async () => {
    let isThere = true;
    const ports = { worktrees: fakeTrees({ isKept: async () => isThere }) };
    const next = (journal: MemoryJournal) => testKernel(ports, journal);
    const t = testKernel(ports);
    const { pid, sys, start: begun } = await start(t, { session: true });
    await sys.appendMessage(begun.ctxId, "assistant", "here");
    await enter(t, pid);
    await sys.appendMessage(begun.ctxId, "assistant", "there");
    const fork = await resume(t.kernel, (await t.kernel.forks.fork(pid, {})).pid);
    expect([fork.cwd, subjectOf(t.kernel, fork).rights?.walls]).toEqual([A.path, [WALL]]);
    // one that begins before it entered is no wider than it is now
    const early = await resume(t.kernel, (await t.kernel.forks.fork(pid, { at: { step: 1 } })).pid);
    expect([early.cwd, subjectOf(t.kernel, early).rights?.walls]).toEqual([A.path, [WALL]]);
    await t.journal.sync();
    const second = next(t.journal);
    await second.kernel.recover();
    const back = await resume(second.kernel, pid);
    expect([back.cwd, subjectOf(second.kernel, back).rights?.walls]).toEqual([A.path, [WALL]]);
    await second.journal.sync();
    isThere = false;
    const third = next(t.journal);
    await third.kernel.recover();
    const home = await resume(third.kernel, pid);
    await settle();
    expect([home.cwd, subjectOf(third.kernel, home).rights?.walls]).toEqual(["/w", undefined]);
    const told = third.journal.bodies("mail.put").map(({ data }) => String(data));
    expect(told).toHaveLength(1);
    expect(third.journal.bodies("worktree.exit")).toHaveLength(1);
    expect(text(Buffer.from(told[0]!, "base64")) + told[0]!).toContain(`${A.path} is gone`);
  });
});
