import { expect, test } from "vitest";
import { agentFile, testKernel } from "../testing/test-kernel.ts";
import { subjectOf } from "./subject.ts";

const BY = { principal: "user", client: "", uid: null };

test("subjectOf() gives the same object for the same rights, and another once they change", async () => {
  const t = testKernel();
  const { proc } = await t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }) });
  const rights = () => subjectOf(t.kernel, proc).rights;
  expect(rights()).toBe(proc.seed.rights);
  const { id } = await t.kernel.grants.add(proc, {
    behavior: "deny",
    rule: "bash",
    scope: "session",
    by: BY,
  });
  const denied = rights();
  expect(denied?.deny).toEqual([{ source: "session", behavior: "deny", text: "bash" }]);
  expect(rights()).toBe(denied);
  await t.kernel.rights.removeGrant(id, BY);
  expect(rights()).toBe(proc.seed.rights);
});

test("subjectOf() counts its own servers among its devices, and a mode that a person gave as its ceiling", async () => {
  const t = testKernel();
  const parent = await t.start({ permissionMode: "default" });
  const { proc, pid } = await t.start({ by: parent.sys, agent: agentFile({ allowedDevices: ["/dev/fs"] }) });
  proc.mounted("/mnt/mcp/2-notes");
  await t.kernel.rights.mode(pid, { mode: "auto", by: BY });
  const { rights, allowedDevices, mode } = subjectOf(t.kernel, proc);
  expect(mode).toBe("auto");
  expect(rights).toMatchObject({ mode: "auto", devices: ["/dev/fs", "/mnt/mcp/2-notes"] });
  expect(allowedDevices).toEqual(["/dev/fs", "/mnt/mcp/2-notes"]);
});
