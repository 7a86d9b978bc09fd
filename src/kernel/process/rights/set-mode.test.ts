import { describe, expect, test } from "vitest";
import type { Pid } from "../../../abi/ids.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import { Daemon } from "../../testing/daemons.ts";
import { agentFile, type StartOptions, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";
import { setMode } from "./set-mode.ts";

const BY = { principal: "user", client: "a terminal", uid: 1000 };
const modes = (t: TestKernel, ...pids: number[]) => pids.map((pid) => t.proc(pid).mode);

function setTo(t: TestKernel, pid: Pid, mode: PermissionMode): Promise<unknown> {
  return t.kernel.rights.mode(pid, { mode, by: BY });
}

async function family(t: TestKernel, top: StartOptions = { permissionMode: "auto" }) {
  const parent = await t.start(top);
  const child = await t.start({ by: parent.sys });
  const grandchild = await t.start({ by: child.sys });
  return { parent, child, grandchild };
}

describe("the mode at a spawn", () => {
  test("of an agent that an agent starts is accept_edits, capped by the parent's", async () => {
    const t = testKernel();
    const { parent, child } = await family(t);
    const careful = await t.start({ permissionMode: "default" });
    const below = await t.start({ by: careful.sys, permissionMode: "bypass" });
    expect(modes(t, parent.pid, child.pid, below.pid)).toEqual(["auto", "accept_edits", "default"]);
  });

  test("of an agent file counts, and narrows what a person asked for, too", async () => {
    const t = testKernel();
    const { manifest } = agentFile();
    const planner = agentFile({ manifest: { ...manifest, permissionMode: "plan" } });
    const bold = agentFile({ manifest: { ...manifest, permissionMode: "bypass" } });
    const top = await t.start({ agent: planner, permissionMode: "bypass" });
    const asked = await t.start({ agent: bold });
    expect(modes(t, top.pid, asked.pid)).toEqual(["plan", "default"]);
  });

  test("bypass is INVALID where it is refused, and nothing is left", async () => {
    const t = testKernel({ bypassRefusal: () => "not as root" });
    await expect(t.start({ permissionMode: "bypass" })).rejects.toMatchObject({
      code: "INVALID",
      message: "not as root",
    });
    expect(t.kernel.table.size).toBe(0);
  });
});

describe("setMode()", () => {
  test("lowers at once, and all that lives below", async () => {
    const t = testKernel();
    const { parent, child, grandchild } = await family(t);
    await setTo(t, child.pid, "plan");
    expect(modes(t, parent.pid, child.pid, grandchild.pid)).toEqual(["auto", "plan", "plan"]);
    expect(t.journal.bodies("mode.set").map(({ mode }) => mode)).toEqual(["plan", "plan"]);
  });

  test("raises, and lifts nobody else", async () => {
    const t = testKernel();
    const { parent, child } = await family(t);
    await setTo(t, parent.pid, "plan");
    await setTo(t, parent.pid, "auto");
    expect(modes(t, parent.pid, child.pid)).toEqual(["auto", "plan"]);
  });

  test("by anyone but the user is PERMISSION above the ceiling", async () => {
    const t = testKernel();
    const { parent, child } = await family(t, { permissionMode: "default" });
    for (const [{ proc }, mode] of [
      [child, "auto"],
      [parent, "bypass"],
    ] as const) {
      const change = setMode(t.kernel, proc, { mode, by: { ...BY, isPerson: false } });
      await expect(change).rejects.toMatchObject({ code: "PERMISSION", fact: { kind: "above_ceiling" } });
    }
    expect(modes(t, parent.pid, child.pid)).toEqual(["default", "default"]);
  });

  test("one that goes up while those above it go down stays down", async () => {
    const t = testKernel();
    const { parent, child } = await family(t);
    await setTo(t, child.pid, "default");
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const rising = t.kernel.rights.mode(child.pid, { mode: "accept_edits", by: BY });
    await settle();
    const falling = setTo(t, parent.pid, "plan");
    gate.resolve();
    await Promise.all([rising, falling]);
    const set = t.journal.bodies("mode.set").map(({ mode }) => mode);
    expect(set).toEqual(["default", "default", "accept_edits", "plan", "plan", "plan"]);
    expect(modes(t, parent.pid, child.pid)).toEqual(["plan", "plan"]);
    expect((await t.journal.ofKind(child.proc.seed.uuid, "mode.set")).at(-1)?.body).toMatchObject({
      mode: "plan",
    });
  });
});

describe("a person", () => {
  test("goes above a ceiling with a grant, which takes the mode along when it is taken back", async () => {
    const t = testKernel();
    const { parent, child } = await family(t, { permissionMode: "default" });
    const control = t.kernel.rights;
    expect(await control.mode(child.pid)).toEqual({ mode: "default", ceiling: "default" });
    expect(await control.mode(child.pid, { mode: "auto", by: BY })).toEqual({
      mode: "auto",
      ceiling: "default",
    });
    const [grant] = await control.grants(child.pid);
    expect(grant).toMatchObject({ rule: "mode(auto)", scope: "process", pid: child.pid, by: BY });
    expect(await control.grants(parent.pid)).toEqual([]);
    await control.removeGrant(grant?.id ?? "", BY);
    expect(modes(t, parent.pid, child.pid)).toEqual(["default", "default"]);
  });

  test("does not enter bypass later than at the start; what settings close is closed", async () => {
    const t = testKernel();
    t.permit.mayEnter = (mode) => mode !== "auto";
    const { pid } = await t.start();
    const to = (mode: PermissionMode) => t.kernel.rights.mode(pid, { mode, by: BY });
    await expect(to("bypass")).rejects.toMatchObject({ code: "INVALID" });
    await expect(to("auto")).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(t.kernel.rights.mode(99 as never)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(modes(t, pid)).toEqual(["default"]);
  });

  test("who closes a mode moves those that are in it to default", async () => {
    const t = testKernel();
    const { parent, child } = await family(t, { permissionMode: "bypass" });
    t.permit.mayEnter = (mode) => mode !== "bypass";
    await t.kernel.rights.recheckModes();
    expect(modes(t, parent.pid, child.pid)).toEqual(["default", "default"]);
  });
});

describe("after a restart", () => {
  const paused = async (t: TestKernel, pid: number) => t.init.kill(pid as never, 4);

  test("the mode is the newest that was set, and one that was given by a person holds as long as its grant", async () => {
    const first = new Daemon();
    const { parent, child, grandchild } = await family(first.t, { permissionMode: "default" });
    await first.t.kernel.rights.mode(child.pid, { mode: "auto", by: BY });
    await setTo(first.t, grandchild.pid, "plan");
    for (const { pid } of [grandchild, child, parent]) await paused(first.t, pid);
    const { t } = await first.next();
    for (const { pid } of [parent, child, grandchild]) await t.proc(pid).past.recall();
    expect(modes(t, parent.pid, child.pid, grandchild.pid)).toEqual(["default", "auto", "plan"]);
    const [grant] = await t.kernel.rights.grants(child.pid);
    await t.kernel.rights.removeGrant(grant?.id ?? "", BY);
    expect(modes(t, child.pid)).toEqual(["default"]);
  });

  test("one that was given and then lowered is what it was lowered to", async () => {
    const first = new Daemon();
    const { parent, child } = await family(first.t, { permissionMode: "default" });
    await first.t.kernel.rights.mode(child.pid, { mode: "auto", by: BY });
    await setTo(first.t, child.pid, "accept_edits");
    for (const { pid } of [child, parent]) await paused(first.t, pid);
    const { t } = await first.next();
    for (const { pid } of [parent, child]) await t.proc(pid).past.recall();
    expect(modes(t, parent.pid, child.pid)).toEqual(["default", "accept_edits"]);
  });

  test("a mode that the settings close meanwhile is default", async () => {
    const first = new Daemon();
    const { pid } = await first.t.start({ permissionMode: "bypass" });
    await paused(first.t, pid);
    const closed = Object.assign(first.t.permit, { mayEnter: (mode: PermissionMode) => mode !== "bypass" });
    const { t } = await first.next(0, { permitFor: () => closed });
    expect(modes(t, pid)).toEqual(["default"]);
  });
});

test("a fork has the mode of its step, and no more than its origin has now", async () => {
  const t = testKernel();
  const { pid, sys, proc, start } = await t.start({ permissionMode: "auto" });
  const step = async (words: string) => {
    await sys.appendMessage(start.ctxId, "assistant", words, [{ type: "text", text: words }]);
    await t.journal.sync();
  };
  const modeOf = async (at: number) => {
    const { uuid } = await t.kernel.forks.fork(pid, { at: { step: at } });
    const [spawned] = await t.journal.ofKind(uuid, "process.spawned");
    return (spawned?.body as { mode: string } | undefined)?.mode;
  };
  await step("one");
  await setTo(t, pid, "default");
  await step("two");
  await t.kernel.rights.mode(pid, { mode: "accept_edits", by: BY });
  await step("three");
  expect([await modeOf(1), await modeOf(2), await modeOf(3)]).toEqual([
    "accept_edits",
    "default",
    "accept_edits",
  ]);
  expect(proc.mode).toBe("accept_edits");
});
