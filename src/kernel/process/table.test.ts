import { describe, expect, test } from "vitest";
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { agentFile, testKernel } from "../testing/test-kernel.ts";
import { ProcessTable } from "./table.ts";

describe("ProcessTable", () => {
  test("a process sees itself, ancestors and descendants; it controls no ancestor", async () => {
    const t = testKernel();
    const top = await t.start();
    const child = await t.start({ by: top.sys });
    const grandchild = await t.start({ by: child.sys });
    const other = await t.start();
    const seen = async (sys: typeof t.init) => (await sys.listProcs()).map((p) => p.pid);
    expect(await seen(t.init)).toEqual([1, 2, 3, 4]);
    expect(await seen(top.sys)).toEqual([1, 2, 3]);
    expect(await seen(grandchild.sys)).toEqual([1, 2, 3]);
    expect(await seen(other.sys)).toEqual([4]);
    const { table } = t.kernel;
    expect(table.controls(top.pid, grandchild.pid)).toBe(true);
    expect(table.controls(grandchild.pid, top.pid)).toBe(false);
    expect(table.controls(child.pid, child.pid)).toBe(true);
  });

  test("lineOf() names a process and those above it, and what their parents say that they are for", async () => {
    const t = testKernel();
    const top = await t.start({ agent: agentFile() });
    const title = 'dig\n"here" and further down than anybody reads of it';
    const child = await t.start({ by: top.sys, agent: agentFile(), child: { call: "c", title } });
    const { name } = agentFile().manifest;
    expect(t.kernel.table.lineOf(top)).toBe(`${name}-1`);
    expect(t.kernel.table.lineOf(child)).toBe(
      `${name}-1 › ${name}-2 "dig  here  and further down than anybody r"`.replace(/ {2}/g, " "),
    );
  });

  test("listProcs() gives pages by rising pid of what the caller sees", async () => {
    const t = testKernel();
    const top = await t.start();
    await t.start();
    for (let n = 0; n < 3; n++) await t.start({ by: top.sys });
    const page = async (sys: typeof t.init, after: number, limit?: number) =>
      (await sys.listProcs({ after: asPid(after), ...(limit === undefined ? {} : { limit }) })).map(
        (p) => p.pid,
      );
    expect(await page(t.init, 0, 2)).toEqual([1, 2]);
    expect(await page(t.init, 2, 2)).toEqual([3, 4]);
    expect(await page(t.init, 4, 2)).toEqual([5]);
    expect(await page(t.init, 5, 2)).toEqual([]);
    expect(await page(top.sys, 1, 2)).toEqual([3, 4]);
    expect(await page(top.sys, 3)).toEqual([4, 5]);
  });

  test("view() hides what the viewer does not see", async () => {
    const t = testKernel();
    const [a, b] = [await t.start({ contextBudget: 5 }), await t.start()];
    const view = t.kernel.view();
    expect(view.find(a.pid, b.pid)).toBeUndefined();
    expect(view.find(asPid(0), b.pid)?.pid).toBe(2);
    expect(view.list(a.pid).map((p) => p.pid)).toEqual([1]);
    expect(view.fds(a.pid)).toEqual([{ fd: 3, path: "/dev/llm/fake", flags: 2 }]);
    expect(view.account(a.pid)).toEqual({ limit: 5, used: 0, reserved: 0 });
    expect(await view.contextSummary(a.pid)).toMatch(/^ctx 1: 1\/64 messages/);
    expect([await view.contextSummary(asPid(9)), view.fds(asPid(9))]).toEqual(["", []]);
  });

  test("childrenOf() has a child from its entry until it leaves, under the kernel once its parent is reaped", async () => {
    const t = testKernel();
    const { table } = t.kernel;
    const parent = await t.start();
    const [a, b] = [await t.start({ by: parent.sys }), await t.start({ by: parent.sys })];
    expect(table.childrenOf(parent.pid)).toEqual([a.proc, b.proc]);
    expect(table.childrenOf(PID_KERNEL)).toEqual([parent.proc]);
    table.remove(a.pid);
    expect(table.childrenOf(parent.pid)).toEqual([b.proc]);
    expect(table.orphanChildren(parent.pid)).toEqual([b.proc]);
    expect([table.childrenOf(parent.pid), b.proc.ppid]).toEqual([[], PID_KERNEL]);
    expect(table.childrenOf(PID_KERNEL)).toEqual([parent.proc, b.proc]);
  });

  test("a child that outlives its parent in memory is no child of the one that comes back with that pid", async () => {
    const t = testKernel();
    const { table } = t.kernel;
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    table.remove(parent.pid);
    table.add(parent.proc);
    expect(table.childrenOf(parent.pid)).toEqual([]);
    table.remove(child.pid);
    expect(table.childrenOf(parent.pid)).toEqual([]);
  });

  test("is full at 65,536: UNAVAILABLE", async () => {
    const { proc } = await testKernel().start();
    const table = new ProcessTable();
    for (let pid = 1; pid <= LIMITS.processes; pid++)
      table.add(Object.create(proc, { pid: { value: asPid(pid) }, ppid: { value: PID_KERNEL } }));
    expect(() => table.add(proc)).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: "process table is full: 65536" }),
    );
  });
});
