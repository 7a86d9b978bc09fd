import { describe, expect, test } from "vitest";
import type { AgentManifest } from "../../../abi/agent.ts";
import { ByteDevice } from "../../testing/fake-devices.ts";
import { agentFile, testKernel } from "../../testing/test-kernel.ts";

describe("devices", () => {
  const narrowed = async () => {
    const t = testKernel();
    for (const mount of ["/dev/fs", "/dev/fsx", "/dev/shell", "/proc", "/bin", "/var/out"])
      t.kernel.mount(mount, new ByteDevice());
    return { t, ...(await t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }) })) };
  };

  test.each([
    "/dev/fs",
    "/dev/fs/a",
    "/bin/ls",
    "/var/out/x",
    "/dev/llm/fake",
    "/proc/self/status",
    "/proc/1",
  ])("%s opens", async (path) => {
    const { sys } = await narrowed();
    expect(await sys.open(path, 0)).toBe(4);
    await sys.stat(path);
  });

  test.each(["/dev/fsx", "/dev/shell", "/proc/2/status", "/proc/12", "/proc/selfish", "/proc"])(
    "%s is PERMISSION, for open and stat",
    async (path) => {
      const { sys } = await narrowed();
      await expect(sys.open(path, 0)).rejects.toMatchObject({ code: "PERMISSION", device: path });
      await expect(sys.stat(path)).rejects.toMatchObject({ code: "PERMISSION", device: path });
    },
  );

  test("an empty list leaves the process its own", async () => {
    const t = testKernel();
    t.kernel.mount("/dev/fs", new ByteDevice());
    const { sys } = await t.start({ agent: agentFile({ allowedDevices: [] }) });
    await expect(sys.open("/dev/fs", 0)).rejects.toMatchObject({ code: "PERMISSION" });
    expect(await sys.open("/dev/llm/fake", 2)).toBe(4);
  });
});

describe("tools", () => {
  const withTools = async (manifest: Partial<AgentManifest>) => {
    const t = testKernel();
    t.kernel.mount("/bin", new ByteDevice());
    const { manifest: empty } = agentFile();
    return { t, ...(await t.start({ agent: agentFile({ manifest: { ...empty, ...manifest } }) })) };
  };
  const refused = { code: "PERMISSION" };

  test("what an agent file lists opens, under any of its names, and nothing else under /bin", async () => {
    const { sys } = await withTools({ tools: ["view", "bash"] });
    for (const path of ["/bin/view", "/bin/bash", "/bin/Read"]) await sys.open(path, 0);
    for (const path of ["/bin/edit", "/bin/viewer"])
      await expect(sys.open(path, 0)).rejects.toMatchObject(refused);
    await expect(sys.stat("/bin/write")).rejects.toMatchObject(refused);
  });

  test("a child gains nothing through its own file", async () => {
    const { t, sys } = await withTools({ tools: ["view"] });
    const { manifest } = agentFile();
    const child = await t.start({
      by: sys,
      agent: agentFile({ manifest: { ...manifest, tools: ["view", "edit"] } }),
    });
    await child.sys.open("/bin/view", 0);
    await expect(child.sys.open("/bin/edit", 0)).rejects.toMatchObject(refused);
  });

  test("delegate: the list binds the process and not its children", async () => {
    const { t, sys } = await withTools({ tools: ["agent"], delegate: true });
    await expect(sys.open("/bin/edit", 0)).rejects.toMatchObject(refused);
    const child = await t.start({ by: sys });
    await child.sys.open("/bin/edit", 0);
  });
});
