/** What a process may not gain by what it starts: each case is a way in which its child would have more than it has. */
import { describe, expect, test } from "vitest";
import type { AgentInfo } from "../../abi/agent.ts";
import type { Effect } from "../../abi/effects.ts";
import type { McpServer, McpStdio } from "../../abi/mcp.ts";
import type { ChildSpec, SupervisorSpec } from "../../abi/supervise.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { ByteDevice } from "../testing/fake-devices.ts";
import { FakeMcp } from "../testing/fake-mcp.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { guardedBench } from "../testing/guarded.ts";
import { ALLOW, DENY } from "../testing/scripted-permit.ts";
import { agentFile, bytes, type StartOptions, TestKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

function bench() {
  const [programs, mcp] = [new FakePrograms(), new FakeMcp()];
  return { t: new TestKernel({ exec: programs, mcp, home: "/home/ada" }), programs, mcp };
}

function server(command: string, more: Partial<McpStdio> = {}): McpServer {
  return {
    name: command,
    required: true,
    config: { type: "stdio", command, args: [], env: {}, ...more },
  };
}

function withServers(...mcp: McpServer[]): AgentInfo {
  const file = agentFile();
  return { ...file, manifest: { ...file.manifest, mcp } };
}

const exec = (command: string) => ({ kind: "exec", argv: [command], cwd: "/home/ada" }) as const;
const agentChild = (id: string, agent: string, opts: SpawnOpts = {}): ChildSpec => ({
  id,
  start: { agent, intent: "hang", opts },
});

/** A process whose supervised agents run until they are ended. */
async function owner(opts: StartOptions = {}) {
  const made = bench();
  made.t.programs.set(
    "hang",
    ({ ending }) => new Promise((_, reject) => ending.addEventListener("abort", reject)),
  );
  return { ...made, ...(await made.t.start(opts)) };
}

describe("the servers of agents that a supervisor starts", () => {
  const spec: SupervisorSpec = {
    name: "shop",
    children: [
      agentChild("plain", "plain"),
      agentChild("a", "a"),
      { id: "inner", start: { supervisor: { name: "inner", children: [agentChild("b", "b")] } } },
    ],
  };
  const fill = (t: TestKernel): void => {
    t.agents.set("plain", agentFile());
    t.agents.set("a", withServers(server("one")));
    t.agents.set("b", withServers(server("two")));
  };

  test("pass the guard, all at once, before anything starts", async () => {
    const { t, sys, pid, mcp } = await owner();
    fill(t);
    t.permit.answer = () => DENY;
    await expect(sys.spawnSupervisor(spec)).rejects.toMatchObject({ code: "PERMISSION" });
    expect([mcp.opened.length, t.kernel.table.size]).toEqual([0, 1]);
    t.permit.answer = () => ALLOW;
    t.permit.asked.length = 0;
    await sys.spawnSupervisor(spec);
    expect(t.permit.asked).toMatchObject([
      { subject: { pid }, request: { tool: "mount", effects: [exec("one"), exec("two")] } },
    ]);
    expect(mcp.opened.map(({ label }) => label)).toEqual(["stdio: one", "stdio: two"]);
  });

  test("are those that were permitted, whatever the file says later", async () => {
    const { t, sys, mcp } = await owner();
    fill(t);
    t.permit.answer = () => {
      t.agents.set("a", withServers(server("other")));
      return ALLOW;
    };
    await sys.spawnSupervisor({ name: "shop", children: [agentChild("a", "a")] });
    expect(mcp.opened.map(({ label }) => label)).toEqual(["stdio: one"]);
  });

  test("beside programs of the host: each is asked by its own tool", async () => {
    const { t, sys, programs, mcp } = await owner();
    fill(t);
    const children = [agentChild("a", "a"), { id: "n", start: { command: ["make"] } }];
    t.permit.answer = (_subject, { tool }) => (tool === "mount" ? DENY : ALLOW);
    await expect(sys.spawnSupervisor({ name: "shop", children })).rejects.toMatchObject({
      code: "PERMISSION",
    });
    t.permit.answer = (_subject, { tool }) => (tool === "bash" ? DENY : ALLOW);
    await expect(sys.spawnSupervisor({ name: "shop", children })).rejects.toMatchObject({
      code: "PERMISSION",
    });
    expect([programs.started.length, mcp.opened.length, t.kernel.table.size]).toEqual([0, 0, 1]);
  });

  test("a person's need no leave", async () => {
    const { t, mcp } = await owner();
    fill(t);
    t.permit.answer = () => DENY;
    await t.init.spawnSupervisor(spec);
    expect(mcp.opened.length).toBe(2);
  });

  test("a tool starts only those that it declared", async () => {
    const { t, sys, tool, acts, call } = await guardedBench();
    void sys;
    fill(t);
    tool.script.effects = [{ kind: "spawn", program: "a", background: true } as Effect];
    acts(
      async (scoped) => void (await scoped.spawnSupervisor({ name: "s", children: [agentChild("a", "a")] })),
    );
    await expect(call()).rejects.toMatchObject({ code: "PERMISSION" });
    expect(t.kernel.table.size).toBe(1);
  });

  test("an agent that is not there: NOT_FOUND, and nothing is asked", async () => {
    const { t, sys } = await owner();
    const children = [{ id: "n", start: { command: ["make"] } }, agentChild("x", "nobody")];
    await expect(sys.spawnSupervisor({ name: "s", children })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(t.permit.asked).toEqual([]);
  });
});

describe("what was permitted is what starts, whatever the caller does to its arguments meanwhile", () => {
  test("a command and its options", async () => {
    const { t, sys, programs } = await owner();
    const command = ["make", "all"];
    const options = { env: { A: "1" } };
    t.permit.answer = () => {
      command[1] = "evil";
      options.env.A = "2";
      return ALLOW;
    };
    await sys.spawn("", null, { command, options });
    expect(programs.last.spec).toMatchObject({ argv: ["make", "all"], env: { A: "1" } });
    programs.last.exit(0);
  });

  test("the servers of an agent", async () => {
    const { t, sys, mcp } = await owner();
    const mine: { command: string; args: string[] } & McpStdio = {
      type: "stdio",
      command: "one",
      args: [],
      env: {},
    };
    t.permit.answer = () => {
      mine.command = "evil";
      return ALLOW;
    };
    const agent = withServers({ name: "one", required: true, config: mine });
    await sys.spawn("hang", agent);
    expect(mcp.opened.map(({ label }) => label)).toEqual(["stdio: one"]);
  });

  test("a mount", async () => {
    const { t, sys, mcp } = await owner();
    const config = { type: "stdio", command: "one", args: [] as string[], env: {} } as const;
    t.permit.answer = () => {
      Object.assign(config, { command: "evil" });
      return ALLOW;
    };
    await sys.mount("/mnt/mcp/one", config);
    expect(mcp.opened.map(({ label }) => label)).toEqual(["stdio: one"]);
  });

  test("a supervised command", async () => {
    const { t, sys, programs } = await owner();
    const command = ["make", "all"];
    t.permit.answer = () => {
      command[1] = "evil";
      return ALLOW;
    };
    await sys.spawnSupervisor({ name: "s", children: [{ id: "a", start: { command } }] });
    expect(programs.started.map(({ spec }) => spec.argv)).toEqual([["make", "all"]]);
  });

  test("what is no plain data is INVALID", async () => {
    const { sys } = await owner();
    const opts = { command: ["make"], options: { env: (() => {}) as never } };
    await expect(sys.spawn("", null, opts)).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("the environment of an agent", () => {
  const env = { PATH: "/bin", HOME: "/home/ada" };

  test("is its parent's: which programs it finds, and where its keys go, is not its parent's to say", async () => {
    const { t, sys } = await owner({ env });
    for (const changed of [{ ...env, PATH: "/desk/evil" }, { ...env, LD_PRELOAD: "/desk/x.so" }, {}]) {
      await expect(sys.spawn("x", null, { env: changed })).rejects.toMatchObject({ code: "PERMISSION" });
      const children = [agentChild("a", "none", { env: changed })];
      await expect(sys.spawnSupervisor({ name: "s", children })).rejects.toMatchObject({
        code: "PERMISSION",
      });
    }
    expect(t.kernel.table.size).toBe(1);
    const child = await t.start({ by: sys, env });
    expect(child.proc.seed.env).toMatchObject(env);
  });

  test("is what the person says", async () => {
    const { t } = await owner({ env });
    const child = await t.start({ env: { PATH: "/opt/bin" } });
    expect(child.proc.seed.env).toMatchObject({ PATH: "/opt/bin" });
    const children = [agentChild("a", "none", { env: { PATH: "/opt/bin" } })];
    await t.init.spawnSupervisor({ name: "s", children });
    await settle();
    const last = [...t.kernel.table.all()].at(-1);
    expect(last?.seed.env).toMatchObject({ PATH: "/opt/bin" });
  });
});

describe("a file that is handed over", () => {
  const holder = async () => {
    const made = await owner();
    for (const path of ["/dev/shell", "/dev/fs"]) made.t.kernel.mount(path, new ByteDevice());
    return { ...made, agent: agentFile({ allowedDevices: ["/dev/fs"] }) };
  };

  test("of a device that the child may not open is PERMISSION, and stays with the caller", async () => {
    const { t, sys, agent } = await holder();
    const fd = await sys.open("/dev/shell/1", 2);
    for (const opts of [{ stdin: fd }, { stdout: fd }])
      await expect(sys.spawn("hang", agent, opts)).rejects.toMatchObject({
        code: "PERMISSION",
        message: "device not allowed: /dev/shell",
      });
    await sys.write(fd, bytes("still mine"));
    expect(t.kernel.table.size).toBe(1);
  });

  test("of one that it may, or of none, is the child's", async () => {
    const { sys, pid, agent } = await holder();
    await sys.spawn("hang", agent, { stdin: await sys.open("/dev/fs/a", 0) });
    await sys.spawn("hang", agent, { stdin: bytes("given") });
    const { readFd, writeFd } = await sys.pipe(pid, pid);
    await sys.spawn("hang", agent, { stdin: readFd, stdout: writeFd });
  });
});

describe("a group that a process made", () => {
  const squatted = async () => {
    const made = await owner();
    await made.sys.joinGroup(made.pid, "authors");
    return made;
  };

  test("takes in nothing that a person starts: CONFLICT, and nothing is left", async () => {
    const { t, pid } = await squatted();
    await expect(t.init.spawn("x", null, { group: "authors" })).rejects.toMatchObject({
      code: "CONFLICT",
      message: `group authors was made by process ${pid}, which would see what joins it and may signal it; choose another name`,
    });
    const child = agentChild("a", "none", { group: "authors" });
    await expect(t.init.spawnSupervisor({ name: "s", children: [child] })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(t.kernel.table.size).toBe(1);
    expect(t.kernel.groups.find("authors").pids).toEqual([pid]);
  });

  test("stays closed when its maker is gone and another process holds the name", async () => {
    const { t, sys, pid, end } = await squatted();
    const child = await t.start({ by: sys });
    await sys.joinGroup(child.pid, "authors");
    end();
    await t.init.wait(pid);
    await expect(t.init.spawn("x", null, { group: "authors" })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("is open to its maker's children, and a person's is open to the person", async () => {
    const { t, sys } = await squatted();
    const child = await t.start({ by: sys, group: "authors" });
    expect(t.kernel.groups.of(child.proc).size).toBe(1);
    await t.start({ group: "readers" });
    const second = await t.start({ group: "readers" });
    expect(t.kernel.groups.of(second.proc).size).toBe(1);
  });
});
