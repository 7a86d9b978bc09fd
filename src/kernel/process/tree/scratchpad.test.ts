import { describe, expect, test } from "vitest";
import { COORDINATOR, TEAM } from "../../../abi/child.ts";
import type { ProcUuid } from "../../../abi/ids.ts";
import { resume } from "../../../history/recover/wake.ts";
import type { Scratchpads } from "../../ports/scratchpads.ts";
import { guardedBench } from "../../testing/guarded.ts";
import { agentFile, testKernel } from "../../testing/test-kernel.ts";
import { keptValues } from "../kept-values.ts";
import type { Process } from "../process.ts";
import { subjectOf } from "../subject.ts";
import { teamConfig } from "../team.ts";

function pads(more: Partial<Scratchpads> = {}) {
  const made = new Set<ProcUuid>();
  const scratchpads: Scratchpads = {
    isForAll: () => false,
    open: (session) => {
      made.add(session);
      return `/pads/${session}`;
    },
    find: (session) => (made.has(session) ? `/pads/${session}` : null),
    full: async () => null,
    ...more,
  };
  return { made, scratchpads };
}

const coordinator = agentFile({ manifest: { ...agentFile().manifest, name: COORDINATOR } });

describe("a scratchpad", () => {
  test("is that of a coordinator's session, of all agents below it and of nobody else", async () => {
    const t = testKernel(pads());
    const shared = (proc: Process) => subjectOf(t.kernel, proc).shared;
    const [lead, other] = [await t.start({ agent: coordinator }), await t.start()];
    const child = await t.start({ by: lead.sys, child: { call: "c", title: "x" } });
    const grandchild = await t.start({ by: child.sys });
    const path = `/pads/${lead.proc.seed.uuid}`;
    expect([lead, child, grandchild, other].map(({ proc }) => shared(proc))).toEqual([
      ...[path, path, path],
      undefined,
    ]);
    expect(await child.sys.surroundings()).toMatchObject({ scratchpad: path });
    expect(await other.sys.surroundings()).not.toHaveProperty("scratchpad");
  });

  test("is made with a team, for agents that were there before, too", async () => {
    const t = testKernel(pads());
    const lead = await t.start();
    const child = await t.start({ by: lead.sys });
    expect(subjectOf(t.kernel, child.proc).shared).toBeUndefined();
    keptValues(t.kernel, lead.proc).set(TEAM, { name: "crew" });
    const path = `/pads/${lead.proc.seed.uuid}`;
    expect(teamConfig(t.kernel, lead.pid)?.config).toMatchObject({ scratchpad: path });
    expect(subjectOf(t.kernel, child.proc).shared).toBe(path);
  });

  test("is that of every session where the settings say so, and the same one after a restart", async () => {
    const { made, scratchpads } = pads({ isForAll: () => true });
    const t = testKernel({ scratchpads });
    const { pid, proc, sys, start } = await t.start({ session: true });
    const path = `/pads/${proc.seed.uuid}`;
    expect(subjectOf(t.kernel, proc).shared).toBe(path);
    await sys.appendMessage(start.ctxId, "assistant", "here");
    await t.journal.sync();
    const next = testKernel({ scratchpads: { ...scratchpads, isForAll: () => false } }, t.journal);
    await next.kernel.recover();
    expect(subjectOf(next.kernel, await resume(next.kernel, pid)).shared).toBe(path);
    expect([...made]).toEqual([proc.seed.uuid]);
  });

  test("that is full is BUDGET for commands, but not for those that remove something", async () => {
    const full = "the scratchpad may hold 256 MiB";
    const { scratchpads } = pads({ isForAll: () => true, full: async () => full });
    const { t, tool, call } = await guardedBench({ permissionMode: "bypass" }, { scratchpads });
    await call();
    tool.script.effects = [{ kind: "exec", argv: ["bash"], cwd: "/desk", certain: true }];
    await expect(call()).rejects.toMatchObject({ code: "BUDGET", message: expect.stringContaining(full) });
    t.permit.destroys = () => ({ targets: ["big"], isOpen: false });
    await call();
    expect(tool.written).toHaveLength(2);
  });
});
