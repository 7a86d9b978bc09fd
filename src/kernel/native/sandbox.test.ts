/** Which programs of the host a kernel confines: those of agents, at each start by the rights of then, and no person's. */
import { expect, test } from "vitest";
import type { SandboxProfile, SandboxState } from "../../abi/sandbox.ts";
import type { SupervisorSpec } from "../../abi/supervise.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import { labelsFacet } from "../labels/facet.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { PermitRequest, Subject } from "../ports/permit.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { guardedBench } from "../testing/guarded.ts";
import { DENY, ScriptedPermit } from "../testing/scripted-permit.ts";
import { NOTHING_LEFT } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const HERE: SandboxState = { available: true, kind: "bubblewrap" };
const spec: SupervisorSpec = {
  name: "shop",
  children: [{ id: "n", restart: "permanent", start: { command: ["make", "all"] } }],
};

async function bench(opts: SpawnOpts = {}) {
  const programs = Object.assign(new FakePrograms(), { sandbox: HERE });
  const asked: { subject: Subject; request: PermitRequest }[] = [];
  const permit = Object.assign(new ScriptedPermit(), {
    sandboxMode: "on" as const,
    sandbox: (subject: Subject, request: PermitRequest): SandboxProfile => {
      asked.push({ subject, request });
      return { write: [`/by/${asked.length}`], protect: [], hide: [], show: [], network: "off" };
    },
  });
  const ports: Partial<KernelPorts> = { permitFor: () => permit, exec: programs };
  return { ...(await guardedBench(opts, ports)), programs, asked, permit };
}

test("a program that an agent's supervisor starts again is confined again, by the rights of then", async () => {
  const { t, sys, programs, asked } = await bench();
  await sys.spawnSupervisor(spec);
  await settle(10);
  expect(programs.started.length).toBe(1);
  expect(programs.last.spec.sandbox?.write).toEqual([`/by/${asked.length}`]);
  const before = asked.length;
  programs.last.exit(1);
  await settle(10);
  await t.clock.advance(60_000);
  await settle(10);
  expect(programs.started.length).toBe(2);
  expect(asked.length).toBe(before + 1);
  expect(programs.last.spec.sandbox?.write).toEqual([`/by/${asked.length}`]);
  expect(asked.at(-1)?.request.effects).toMatchObject([{ kind: "exec", argv: ["make", "all"] }]);
});

test("a program of an agent is confined; one of a person is not, also where a supervisor keeps it", async () => {
  const { t, sys, programs } = await bench();
  await sys.spawn("", null, { command: ["make"] });
  expect(programs.last.spec.sandbox).not.toBeNull();
  await t.init.spawnSupervisor(spec);
  await settle(10);
  expect(programs.started.length).toBe(2);
  expect(programs.last.spec.sandbox).toBeNull();
  await t.init.spawn("", null, { command: ["make"] });
  expect(programs.last.spec.sandbox).toBeNull();
});

test("a program of the user is confined where that is asked for, and so is what it starts", async () => {
  const { t, programs, asked } = await bench();
  const pid = await t.init.spawn("", null, { command: ["make"], options: { id: "line:1", confined: true } });
  expect(programs.last.spec.sandbox?.write).toEqual([`/by/${asked.length}`]);
  const client = t.kernel.clientOf(t.proc(pid).seed.uuid);
  await client?.sys?.spawn("", null, { command: ["all"], options: { id: "line:2" } });
  expect(programs.started.length).toBe(2);
  expect(programs.last.spec.sandbox?.write).toEqual([`/by/${asked.length}`]);
});

test("where commands cannot be confined, one that nobody allowed is not started", async () => {
  const { sys, programs } = await bench();
  const none: SandboxState = {
    available: false,
    why: "bubblewrap is not installed",
    fix: "apt-get install it",
  };
  programs.sandbox = none;
  const message = expect.stringMatching(/bubblewrap is not installed.*apt-get install it/);
  await expect(sys.spawnSupervisor(spec)).rejects.toMatchObject({ code: "UNAVAILABLE", message });
  await expect(sys.spawn("", null, { command: ["make"] })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message,
  });
  expect(programs.started).toEqual([]);
});

test("what a program of an agent starts over the wire is as what the agent starts by its tool", async () => {
  const rights = { deny: ["bash(rm:*)"] };
  const { t, sys, proc, events, programs, asked, permit } = await bench({
    rights,
    budget: { tokens: 1_000 },
  });
  const labels = [{ kind: "untrusted", source: "web", detail: "https://a.test/" } as const];
  proc.facts.change(labelsFacet, "label.add", { labels });
  const start = async (by: Syscalls, id: string) => {
    const before = asked.length;
    const pid = await by.spawn("", null, { command: ["make"], options: { id, stdin: "pipe" } });
    const [gate, own] = asked
      .slice(before)
      .map(({ subject, request }) => ({ rights: subject.rights, request }));
    const { last } = programs;
    const {
      ppid,
      line: _line,
      depth: _depth,
      id: _id,
      ...record
    } = t.journal.bodies("process.spawned").at(-1) as Record<string, unknown>;
    // its own scratch folder and number are all that differs
    const { CRUX_SCRATCH: _scratch, CRUX_PID: _pid, ...env } = last.spec.env;
    const { sandbox, stdin, cwd } = last.spec;
    return { pid, ppid, last, same: { record, own, env, stdin, cwd, isConfined: sandbox !== null }, gate };
  };
  const byTool = await start(sys, "tool");
  const wire = t.kernel.clientOf(t.proc(byTool.pid).seed.uuid)?.sys as Syscalls;
  const byWire = await start(wire, "wire");
  expect(byWire.same).toEqual(byTool.same);
  expect(byWire.same.isConfined).toBe(true);
  expect(byWire.same.record).toMatchObject({ rights: { deny: [{ text: "bash(rm:*)" }] }, labels });
  expect([byTool, byWire].map(({ pid }) => t.proc(pid).labels)).toEqual([labels, labels]);
  expect(byWire.gate?.request).toEqual(byTool.gate?.request);
  expect([byTool.ppid, byWire.ppid]).toEqual([proc.pid, byTool.pid]);
  // both count to the budget of the agent
  const accounts = [byTool, byWire].map(({ pid }) => t.proc(pid).seed.account);
  expect([accounts[0]?.parent, accounts[1]?.parent]).toEqual([proc.seed.account, accounts[0]]);
  permit.answer = () => DENY;
  for (const by of [sys, wire]) await expect(start(by, "no")).rejects.toMatchObject({ code: "PERMISSION" });
  expect(programs.started.length).toBe(2);
  await t.init.kill(proc.pid, 1);
  for (const { pid, last } of [byTool, byWire]) {
    expect(await t.proc(pid).done.promise).toMatchObject({ code: 143, kind: "killed" });
    expect(last.signals).toEqual(["SIGTERM"]);
  }
  events.close();
  await t.clock.advance(60_000);
  await settle();
  expect(t.census()).toEqual(NOTHING_LEFT);
});
