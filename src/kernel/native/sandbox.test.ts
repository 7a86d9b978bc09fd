/** Which programs of the host a kernel confines: those of agents, at each start by the rights of then, and no person's. */
import { expect, test } from "vitest";
import type { SandboxProfile, SandboxState } from "../../abi/sandbox.ts";
import type { SupervisorSpec } from "../../abi/supervise.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { PermitRequest, Subject } from "../ports/permit.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { guardedBench } from "../testing/guarded.ts";
import { ScriptedPermit } from "../testing/scripted-permit.ts";
import { settle } from "../testing/virtual-clock.ts";

const HERE: SandboxState = { available: true, kind: "bubblewrap" };
const spec: SupervisorSpec = {
  name: "shop",
  children: [{ id: "n", restart: "permanent", start: { command: ["make", "all"] } }],
};

async function bench() {
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
  return { ...(await guardedBench({}, ports)), programs, asked };
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
