import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { McpConfig, McpServer } from "../../abi/mcp.ts";
import { type Journal, KERNEL_UUID } from "../ports/journal.ts";
import { FakeMcp } from "../testing/fake-mcp.ts";
import { DENY } from "../testing/scripted-permit.ts";
import { agentFile, NOTHING_LEFT, type StartOptions, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const stdio = (command: string): McpConfig => ({ type: "stdio", command, args: [], env: {} });
const entry = (name: string, command: string, required = true): McpServer => ({
  name,
  config: stdio(command),
  required,
});
const withServers = (...mcp: McpServer[]): StartOptions => {
  const agent = agentFile();
  return { agent: { ...agent, manifest: { ...agent.manifest, mcp } } };
};

function world() {
  const mcp = new FakeMcp();
  const t = testKernel({ mcp });
  const paths = () => t.kernel.listMounts().map((mount) => mount.path);
  return { t, mcp, paths, init: t.init };
}

describe("mount()", () => {
  test("gives the path and the state, and what is listed", async () => {
    const { t, init } = world();
    expect(await init.mount("/mnt/mcp//memory/", stdio("ok"))).toEqual({
      path: "/mnt/mcp/memory",
      state: "connected",
    });
    expect(t.kernel.listMounts()).toEqual([
      {
        path: "/mnt/mcp/memory",
        pid: 0,
        server: "stdio: ok",
        state: "connected",
        tools: 2,
        servicePid: null,
        problem: "",
      },
    ]);
    expect((await init.stat("/mnt/mcp/memory")).devicePath).toBe("/mnt/mcp/memory");
  });

  test("of a server that hangs is back after 500 ms, pending, and connecting goes on", async () => {
    const { t, mcp, init, paths } = world();
    const mounting = init.mount("/mnt/mcp/slow", stdio("hangs"));
    await t.clock.advance(499);
    expect(paths()).toEqual([]);
    await t.clock.advance(1);
    expect(await mounting).toEqual({ path: "/mnt/mcp/slow", state: "pending" });
    mcp.opened[0]!.finish();
    expect(t.kernel.listMounts()[0]).toMatchObject({ state: "connected" });
  });

  test("tells its owner how connecting went on in the background", async () => {
    const { t, mcp } = world();
    const { sys, proc } = await t.start({ permissionMode: "bypass" });
    const mounting = sys.mount("/mnt/mcp/slow", stdio("hangs"));
    await t.clock.advance(500);
    await mounting;
    mcp.opened[0]!.fail("did not answer");
    await settle();
    const said = await t.kernel.logs(proc.pid, { tail: 9, follow: false });
    const lines: unknown[] = [];
    for await (const piece of said) lines.push(piece);
    expect(JSON.stringify(lines)).toContain("MCP server at /mnt/mcp/slow: did not answer");
    expect(t.kernel.listMounts()[0]).toMatchObject({ state: "failed", problem: "did not answer" });
  });

  test.each([
    ["/mnt/mcp/memory", "fails", { code: "UNAVAILABLE", message: "program not found: fails" }],
    ["/mnt/mcp/memory", "invalid", { code: "INVALID" }],
    ["/mnt/memory", "ok", { code: "INVALID" }],
    ["/mnt/mcp/7-memory", "ok", { code: "INVALID" }],
    ["/mnt/mcp/a__b", "ok", { code: "INVALID" }],
    ["/mnt/mcp/taken", "ok", { code: "CONFLICT", message: "path is taken: /mnt/mcp/taken" }],
  ])("at %s of %s fails and leaves nothing", async (path, command, error) => {
    const { t, mcp, init, paths } = world();
    await init.mount("/mnt/mcp/taken", stdio("ok"));
    await expect(init.mount(path, stdio(command))).rejects.toMatchObject({ syscall: "Mount", ...error });
    expect(paths()).toEqual(["/mnt/mcp/taken"]);
    expect(t.kernel.devices.list()).not.toContain("/mnt/mcp/memory");
    expect(mcp.live).toBe(1);
    await init.mount("/mnt/mcp/memory", stdio("ok"));
  });

  test("undoes what came before when the device cannot be registered", async () => {
    const { t, mcp, init, paths } = world();
    const mounting = init.mount("/mnt/mcp/late", stdio("hangs"));
    mounting.catch(() => {});
    await settle();
    t.kernel.mount("/mnt/mcp/late", mcp.device("late"));
    await t.clock.advance(500);
    await expect(mounting).rejects.toMatchObject({ code: "CONFLICT" });
    expect([paths(), mcp.live]).toEqual([[], 0]);
  });

  test("two at once at one path: one is made", async () => {
    const { t, mcp, init } = world();
    const both = Promise.allSettled(["a", "b"].map(() => init.mount("/mnt/mcp/x", stdio("hangs"))));
    await t.clock.advance(500);
    expect((await both).map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(mcp.live).toBe(1);
  });

  test("is UNAVAILABLE beyond 64 of one process, those under way included", async () => {
    const { t, init } = world();
    const { sys } = await t.start({ permissionMode: "bypass" });
    const all = await Promise.allSettled(
      Array.from({ length: 65 }, (_, i) => sys.mount(`/mnt/mcp/s${i}`, stdio("ok"))),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(64);
    expect(all.at(-1)).toMatchObject({ reason: { code: "UNAVAILABLE", message: "too many mounts: 64" } });
    await init.mount("/mnt/mcp/other", stdio("ok"));
  });

  test("is CANCELLED by its caller, and nothing stays", async () => {
    const { mcp, init, paths } = world();
    const stop = new AbortController();
    const mounting = init.mount("/mnt/mcp/x", stdio("hangs"), stop.signal);
    await settle();
    stop.abort();
    await expect(mounting).rejects.toMatchObject({ code: "CANCELLED" });
    expect([paths(), mcp.live]).toEqual([[], 0]);
  });

  test("of a process that is killed meanwhile leaves nothing", async () => {
    const { t, mcp, init, paths } = world();
    const { sys, pid } = await t.start({ permissionMode: "bypass" });
    const mounting = sys.mount("/mnt/mcp/x", stdio("hangs"));
    await settle();
    await init.kill(pid, 2);
    await expect(mounting).rejects.toMatchObject({ code: "CANCELLED" });
    await init.wait(pid);
    expect([paths(), mcp.live]).toEqual([[], 0]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("mount() by a program", () => {
  const asked = async (config: McpConfig) => {
    const { t } = world();
    const { sys } = await t.start();
    await sys.mount("/mnt/mcp/x", config);
    return t;
  };
  const requestOf = (t: ReturnType<typeof testKernel>) => t.permit.asked.at(-1)?.request;

  test.each<[McpConfig, Effect]>([
    [
      { type: "stdio", command: "npx", args: ["-y", "s"], env: {} },
      { kind: "exec", argv: ["npx", "-y", "s"], cwd: "/home/test", certain: true },
    ],
    [
      { type: "stdio", command: "git", args: [], env: { HOME: "/tmp/x" }, cwd: "/desk" },
      { kind: "exec", argv: ["git"], cwd: "/desk", certain: false },
    ],
    [
      { type: "http", url: "https://x.io/mcp", headers: { a: "b" } },
      { kind: "network", host: "x.io", port: 443, method: "POST" },
    ],
    [
      { type: "http", url: "http://127.0.0.1:81", headers: {} },
      { kind: "network", host: "127.0.0.1", port: 81, method: "POST" },
    ],
  ])("asks for what it does: %j", async (config, effect) => {
    const t = await asked(config);
    expect(requestOf(t)).toEqual({ tool: "mount", effects: [effect] });
    const intents = t.journal.records.filter(({ kind }) => kind === "call.intent");
    expect(intents).toMatchObject([{ body: { class: "once", device: "/mnt/mcp/x" } }]);
    expect(JSON.stringify(intents)).not.toContain("/tmp/x");
  });

  test("that is refused starts nothing; the person's own asks nothing", async () => {
    const { t, mcp, init } = world();
    t.permit.answer = () => DENY;
    const { sys } = await t.start();
    await expect(sys.mount("/mnt/mcp/x", stdio("ok"))).rejects.toMatchObject({ code: "PERMISSION" });
    expect(mcp.opened).toEqual([]);
    await init.mount("/mnt/mcp/x", stdio("ok"));
    expect(mcp.live).toBe(1);
  });

  test("is traced with its server, without secrets", async () => {
    const { t, init } = world();
    const { sys, pid, end } = await t.start({ permissionMode: "bypass" });
    const trace = t.kernel.attachDebug(pid, { all: false });
    await sys.mount("/mnt/mcp/x", { type: "stdio", command: "s", args: ["--token", "hidden"], env: {} });
    await sys.unmount("/mnt/mcp/x");
    end();
    await init.wait(pid);
    const seen = [];
    for await (const { syscall, args, result } of trace) seen.push({ syscall, args, result });
    expect(seen).toContainEqual({
      syscall: "Mount",
      args: { path: "/mnt/mcp/x", server: "stdio: s --token …" },
      result: "connected",
    });
    expect(seen).toContainEqual({ syscall: "Unmount", args: { path: "/mnt/mcp/x" }, result: undefined });
  });
});

describe("spawn() by a program of an agent that brings servers", () => {
  test("asks for what they do, and starts nothing when it is refused", async () => {
    const { t, mcp } = world();
    const { sys } = await t.start();
    const { agent } = withServers(entry("a", "npx"));
    t.permit.answer = () => DENY;
    await expect(sys.spawn("w", agent!)).rejects.toMatchObject({ code: "PERMISSION", syscall: "Spawn" });
    expect(mcp.opened).toEqual([]);
    expect(t.permit.asked.at(-1)?.request).toEqual({
      tool: "mount",
      effects: [{ kind: "exec", argv: ["npx"], cwd: "/home/test", certain: true }],
    });
  });

  test("mounts them when it is allowed", async () => {
    const { t, mcp } = world();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys, ...withServers(entry("a", "ok")) });
    expect(mcp.live).toBe(1);
    expect(child.start.mounts).toEqual([{ name: "a", path: `/mnt/mcp/${child.pid}-a` }]);
    await expect(parent.sys.open(`/mnt/mcp/${child.pid}-a`, 2)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("unmount()", () => {
  test("takes the record, the transport and the device away", async () => {
    const { t, mcp, init, paths } = world();
    await init.mount("/mnt/mcp/x", stdio("ok"));
    await init.unmount("/mnt/mcp/x/");
    expect([paths(), mcp.live, t.kernel.devices.has("/mnt/mcp/x")]).toEqual([[], 0, false]);
    await expect(init.unmount("/mnt/mcp/x")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "not mounted: /mnt/mcp/x",
    });
  });

  test("of a device that is no server is NOT_FOUND", async () => {
    const { init } = world();
    await expect(init.unmount("/dev/llm/fake")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("ends connecting that is under way", async () => {
    const { t, mcp, init } = world();
    const mounting = init.mount("/mnt/mcp/x", stdio("hangs"));
    await t.clock.advance(500);
    await mounting;
    await init.unmount("/mnt/mcp/x");
    await settle();
    expect([mcp.live, t.clock.pending]).toEqual([0, 0]);
  });

  test("of another's mount is PERMISSION where it is seen, NOT_FOUND where it is not", async () => {
    const { t, init } = world();
    await init.mount("/mnt/mcp/all", stdio("ok"));
    const parent = await t.start({ permissionMode: "bypass" });
    const child = await t.start({ by: parent.sys });
    const stranger = await t.start();
    await parent.sys.mount("/mnt/mcp/own", stdio("ok"));
    await expect(parent.sys.unmount("/mnt/mcp/all")).rejects.toMatchObject({
      code: "PERMISSION",
      message: "the mount is the user's",
    });
    await expect(child.sys.unmount("/mnt/mcp/own")).rejects.toMatchObject({
      code: "PERMISSION",
      message: `the mount is that of process ${parent.pid}`,
    });
    await expect(stranger.sys.unmount("/mnt/mcp/own")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await init.unmount("/mnt/mcp/own");
  });

  test("unmountAll() is pid 0's; one that sticks holds nothing up", async () => {
    const { t, mcp, init, paths } = world();
    await init.mount("/mnt/mcp/a", stdio("sticks"));
    await init.mount("/mnt/mcp/b", stdio("ok"));
    const { sys } = await t.start();
    await expect(sys.unmountAll()).rejects.toMatchObject({ code: "PERMISSION" });
    await init.unmountAll();
    expect([paths(), mcp.live]).toEqual([[], 0]);
    expect(t.logs).toEqual(["warn: pid 0: unmounting /mnt/mcp/a: [INTERNAL] it sticks"]);
  });
});

describe("who sees a mount", () => {
  const opens = async (sys: StartOptions["by"], path: string): Promise<string> => {
    try {
      await sys!.open(path, 2);
      await sys!.stat(path);
      return "opens";
    } catch (error) {
      await expect(sys!.stat(path)).rejects.toMatchObject({ code: (error as { code: string }).code });
      return (error as { code: string }).code;
    }
  };

  test("its owner, those below, pid 0; the user's all, within their devices", async () => {
    const { t, init } = world();
    await init.mount("/mnt/mcp/all", stdio("ok"));
    const parent = await t.start();
    const owner = await t.start({ by: parent.sys, permissionMode: "bypass" });
    const child = await t.start({ by: owner.sys });
    const narrow = await t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }) });
    await owner.sys.mount("/mnt/mcp/own", stdio("ok"));
    const of = async (path: string) =>
      Promise.all([init, owner.sys, child.sys, parent.sys, narrow.sys].map((sys) => opens(sys, path)));
    expect(await of("/mnt/mcp/own")).toEqual(["opens", "opens", "opens", "NOT_FOUND", "NOT_FOUND"]);
    expect(await of("/mnt/mcp/all")).toEqual(["opens", "opens", "opens", "opens", "PERMISSION"]);
  });

  test("its owner opens it whatever its list of devices says, and its children may have it", async () => {
    const { t } = world();
    const allowedDevices = ["/dev/fs"];
    const agent = agentFile({ allowedDevices });
    const mcp = [entry("memory", "ok")];
    const owner = await t.start({ agent: { ...agent, manifest: { ...agent.manifest, mcp } } });
    const path = `/mnt/mcp/${owner.pid}-memory`;
    const child = await t.start({ by: owner.sys });
    const narrower = await t.start({ by: owner.sys, agent: agentFile({ allowedDevices }) });
    expect(await opens(owner.sys, path)).toBe("opens");
    expect(await opens(child.sys, path)).toBe("opens");
    expect(await opens(narrower.sys, path)).toBe("PERMISSION");
    expect(t.kernel.info(owner.proc).allowedDevices).toEqual(["/dev/fs", path]);
  });
});

describe("the servers of an agent file", () => {
  test("are mounted before the first step, under its pid, and go with the process", async () => {
    const { t, mcp, paths, init } = world();
    const started = await t.start(withServers(entry("a", "ok"), entry("b", "ok")));
    const { pid } = started;
    const mounts = [
      { name: "a", path: `/mnt/mcp/${pid}-a` },
      { name: "b", path: `/mnt/mcp/${pid}-b` },
    ];
    expect(started.start.mounts).toEqual(mounts);
    expect(paths()).toEqual(mounts.map(({ path }) => path));
    expect(mcp.opened[0]!.owner).toMatchObject({ pid, cwd: "/home/test" });
    started.end();
    await init.wait(pid);
    expect([paths(), mcp.live, mcp.closed]).toEqual([[], 0, ["ok", "ok"]]);
    expect(t.kernel.mounts.namedBy(pid)).toEqual([]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("are known to the trace of the process that is killed as gone", async () => {
    const { t, mcp, init } = world();
    const started = await t.start({ ...withServers(entry("a", "ok")), stubborn: true });
    await init.kill(started.pid, 2);
    await started.proc.done.promise;
    expect(mcp.live).toBe(0);
  });

  test("of an agent that is killed in the middle of a turn go; those of another, and of the user, live", async () => {
    const { t, mcp, paths, init } = world();
    await init.mount("/mnt/mcp/shared", stdio("ok"));
    const [killed, other] = [
      await t.start({ ...withServers(entry("a", "ok")), stubborn: true }),
      await t.start(withServers(entry("a", "ok"))),
    ];
    expect(mcp.live).toBe(3);
    await init.kill(killed.pid, 2);
    await killed.proc.done.promise;
    expect([mcp.live, paths()]).toEqual([2, [`/mnt/mcp/${other.pid}-a`, "/mnt/mcp/shared"]]);
    expect((await init.stat(`/mnt/mcp/${other.pid}-a`)).devicePath).toBe(`/mnt/mcp/${other.pid}-a`);
  });

  test("one that is required and fails ends the spawn: the others are undone in reverse", async () => {
    const { t, mcp, paths, init } = world();
    const { agent } = withServers(entry("a", "first"), entry("b", "second"), entry("c", "fails"));
    await expect(init.spawn("work", agent!)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      syscall: "Spawn",
      message: "MCP server c: program not found: fails",
    });
    await settle();
    expect(mcp.closed.filter((command) => command !== "fails")).toEqual(["second", "first"]);
    expect([paths(), mcp.live]).toEqual([[], 0]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("one that is required and hangs ends the spawn after 30 s", async () => {
    const { t, mcp, paths, init } = world();
    const { agent } = withServers(entry("a", "ok"), entry("b", "hangs"));
    const spawning = init.spawn("work", agent!);
    spawning.catch(() => {});
    await t.clock.advance(29_999);
    expect(paths()).toHaveLength(1);
    await t.clock.advance(1);
    await expect(spawning).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "MCP server b: not connected within 30 s",
    });
    await settle();
    expect([paths(), mcp.live]).toEqual([[], 0]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  const requiring = (requiredServers: readonly string[], ...mcp: McpServer[]) => {
    const { agent } = withServers(...mcp);
    return { ...agent!, manifest: { ...agent!.manifest, requiredServers } };
  };

  test("an agent begins where each server that its file requires offers tools, its own or one of the user", async () => {
    const { t, mcp, init } = world();
    const mounting = init.mount("/mnt/mcp/git-main", stdio("hangs"));
    await t.clock.advance(500);
    await mounting;
    const starting = t.start({ agent: requiring(["git-*", "notes"], entry("notes", "ok", false)) });
    await settle();
    mcp.opened[0]?.finish();
    const { end } = await starting;
    end();
  });

  test("an agent does not begin where one is missing, fails or is late: all are named, and nothing is left", async () => {
    const { t, mcp, paths, init } = world();
    const mounting = init.mount("/mnt/mcp/git", stdio("hangs"));
    await t.clock.advance(500);
    await mounting;
    const own = [entry("a", "fails", false), entry("b", "ok", false)];
    const spawning = init.spawn("work", requiring(["a", "b*", "g*t", "none", "b*b"], ...own));
    spawning.catch(() => {});
    await t.clock.advance(30_000);
    await expect(spawning).rejects.toMatchObject({
      ...{ code: "UNAVAILABLE", message: "required MCP servers offer no tools: a, g*t, none, b*b" },
    });
    await settle();
    expect([paths(), mcp.live]).toEqual([["/mnt/mcp/git"], 1]);
  });

  test("one that is not required is left out, with a word about it", async () => {
    const { t, mcp } = world();
    const { agent } = withServers(entry("a", "fails", false), entry("b", "invalid", false), entry("c", "ok"));
    const { pid, end, start } = await t.start({ agent: agent! });
    expect(start.mounts.map(({ name }) => name)).toEqual(["c"]);
    expect(mcp.live).toBe(1);
    const words = "MCP server a: program not found: fails; it is left out";
    const said = async () =>
      JSON.stringify(await Array.fromAsync(await t.kernel.logs(pid, { tail: 9, follow: false })));
    expect(await said()).toContain(words);
    end();
    await t.init.wait(pid);
    expect(await said()).toContain(words);
  });

  test("a signal while they connect ends the spawn at once", async () => {
    const { t, mcp, init } = world();
    const spawning = init.spawn("work", withServers(entry("a", "hangs")).agent!);
    spawning.catch(() => {});
    await settle();
    await init.kill([...t.kernel.table.all()][0]!.pid, 1);
    await expect(spawning).rejects.toMatchObject({ syscall: "Spawn" });
    await settle();
    expect(mcp.live).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("a bad name is INVALID, and 65 of them are too many", async () => {
    const { mcp, init } = world();
    await expect(init.spawn("w", withServers(entry("a__b", "ok")).agent!)).rejects.toMatchObject({
      code: "INVALID",
    });
    const many = Array.from({ length: 65 }, (_, i) => entry(`s${i}`, "ok"));
    await expect(init.spawn("w", withServers(...many).agent!)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "MCP server s64: too many mounts: 64",
    });
    expect(mcp.live).toBe(0);
  });

  test("their environment is nowhere in the journal", async () => {
    const { t } = world();
    const config: McpConfig = { type: "stdio", command: "ok", args: [], env: { TOKEN: "hidden" } };
    const { pid } = await t.start(withServers({ name: "a", config, required: true }));
    const journal: Journal = t.journal;
    const uuid = (await journal.processOf(pid)) ?? KERNEL_UUID;
    expect(JSON.stringify(await journal.read(uuid, 1, 256))).not.toContain("hidden");
  });
});

test("at shutdown all mounts go, and no new ones come", async () => {
  const { t, mcp, init, paths } = world();
  await init.mount("/mnt/mcp/a", stdio("ok"));
  await t.start(withServers(entry("b", "ok")));
  await t.kernel.shutdown(100);
  expect([paths(), mcp.live]).toEqual([[], 0]);
  await expect(init.mount("/mnt/mcp/c", stdio("ok"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
