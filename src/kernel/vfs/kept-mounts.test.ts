/** What a person mounted, over the daemons. */
import { describe, expect, test } from "vitest";
import type { McpConfig } from "../../abi/mcp.ts";
import { FakeMcp } from "../testing/fake-mcp.ts";
import { type TestKernel, testKernel } from "../testing/test-kernel.ts";

const stdio = (command: string, more: object = {}): McpConfig => ({
  type: "stdio",
  command,
  args: [],
  env: {},
  ...more,
});

function daemon(before?: TestKernel) {
  const mcp = new FakeMcp();
  const t = testKernel({ mcp }, before?.journal);
  const list = () => t.kernel.listMounts().map(({ path, state, problem }) => ({ path, state, problem }));
  return { t, mcp, init: t.init, list };
}

async function next(before: TestKernel, how: "stopped" | "killed") {
  if (how === "stopped") await before.kernel.shutdown(0);
  else before.journal.crash();
  const after = daemon(before);
  await after.t.kernel.recover();
  return after;
}

describe.each(["stopped", "killed"] as const)("a daemon after one that was %s", (how) => {
  test("has what the person mounted, and starts none of it", async () => {
    const { t, init } = daemon();
    await init.mount("/mnt/mcp/a", stdio("ok", { args: ["x"], cwd: "/desk" }));
    await init.mount("/mnt/mcp/b", { type: "http", url: "http://127.0.0.1:1/mcp", headers: {} });
    await init.mount("/mnt/mcp/c", stdio("ok"));
    await init.unmount("/mnt/mcp/c");
    const agent = await t.start({ permissionMode: "bypass" });
    await agent.sys.mount("/mnt/mcp/own", stdio("ok"));
    const after = await next(t, how);
    expect(after.list()).toEqual([
      { path: "/mnt/mcp/a", state: "pending", problem: "" },
      { path: "/mnt/mcp/b", state: "pending", problem: "" },
    ]);
    expect(after.mcp.opened.map(({ label }) => label)).toEqual([
      "stdio: ok",
      "stdio: http://127.0.0.1:1/mcp",
    ]);
    // its path is taken, and it can be taken away for good
    await expect(after.init.mount("/mnt/mcp/a", stdio("ok"))).rejects.toMatchObject({ code: "CONFLICT" });
    await after.init.unmount("/mnt/mcp/a");
    expect((await next(after.t, how)).list().map(({ path }) => path)).toEqual(["/mnt/mcp/b"]);
  });

  test.each([
    [stdio("ok", { env: { TOKEN: "hush-hush" } }), "its variable TOKEN"],
    [stdio("ok", { args: ["--api-key", "hush-hush"] }), "all words of its command"],
    [
      { type: "http", url: "http://x/mcp", headers: { Authorization: "hush-hush", B: "1" } } as const,
      "its headers Authorization, B",
    ],
    [{ type: "http", url: "http://x/mcp?key=hush-hush", headers: {} } as const, "all of its address"],
  ])(
    "of %j keeps no secret: it says what it lacks, and is mounted again or taken away",
    async (config, lacks) => {
      const { t, init } = daemon();
      await init.mount("/mnt/mcp/a", config);
      expect(JSON.stringify(t.journal.records)).not.toContain("hush-hush");
      const after = await next(t, how);
      const problem = `not there since the daemon was started again, which does not keep ${lacks}: mount it again`;
      expect(after.list()).toEqual([{ path: "/mnt/mcp/a", state: "pending", problem }]);
      expect(after.mcp.opened).toEqual([]);
      await expect(after.init.stat("/mnt/mcp/a")).rejects.toMatchObject({ code: "NOT_FOUND" });
      await after.init.mount("/mnt/mcp/a", config);
      expect(after.list()).toEqual([{ path: "/mnt/mcp/a", state: "connected", problem: "" }]);
      const third = await next(after.t, how);
      await third.init.unmount("/mnt/mcp/a");
      expect(third.list()).toEqual([]);
      expect((await next(third.t, how)).list()).toEqual([]);
    },
  );
});

test("a mount that cannot be recorded is none; an unmount that cannot changes nothing", async () => {
  const { t, init, mcp, list } = daemon();
  await init.mount("/mnt/mcp/a", stdio("ok"));
  t.journal.refused.add("process.state");
  await expect(init.mount("/mnt/mcp/b", stdio("ok"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(init.unmount("/mnt/mcp/a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(list().map(({ path }) => path)).toEqual(["/mnt/mcp/a"]);
  expect(mcp.live).toBe(1);
  t.journal.refused.clear();
  await init.mount("/mnt/mcp/c", stdio("ok"));
  expect((await next(t, "killed")).list().map(({ path }) => path)).toEqual(["/mnt/mcp/a", "/mnt/mcp/c"]);
});

test("in safe mode nothing is there, and nothing that was kept is forgotten", async () => {
  const { t, init } = daemon();
  await init.mount("/mnt/mcp/a", stdio("ok"));
  const safe = daemon(t);
  expect(safe.list()).toEqual([]);
  await safe.init.mount("/mnt/mcp/b", stdio("ok"));
  expect((await next(safe.t, "killed")).list().map(({ path }) => path)).toEqual(["/mnt/mcp/a", "/mnt/mcp/b"]);
});
