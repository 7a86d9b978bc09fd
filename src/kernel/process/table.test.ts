import { describe, expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { testKernel } from "../testing/test-kernel.ts";
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

  test("is full at 65,536: UNAVAILABLE", async () => {
    const { proc } = await testKernel().start();
    const table = new ProcessTable();
    for (let pid = 1; pid <= LIMITS.processes; pid++)
      table.add(Object.create(proc, { pid: { value: asPid(pid) } }));
    expect(() => table.add(proc)).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: "process table is full: 65536" }),
    );
  });
});
