import { describe, expect, it } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import { asCtxId, asFd, asPid, type Pid } from "../../abi/ids.ts";
import type { ExitStatus, ProcInfo } from "../../abi/process.ts";
import type { SupervisorView } from "../../abi/supervise.ts";
import type { ProcView } from "../../kernel/ports/proc-view.ts";
import { deviceContract } from "../contract.ts";
import { callerIn, openAndRead, readAll } from "../testing.ts";
import { procDevice } from "./device.ts";

const caller = callerIn("/", { pid: asPid(7) });

function info(pid: number, fields: Partial<ProcInfo> = {}): ProcInfo {
  return {
    pid: asPid(pid),
    ppid: asPid(0),
    kind: "agent",
    state: "running",
    activity: "thinking",
    intent: "分析代码",
    skills: ["code-analysis"],
    tokensUsed: 456,
    createdAt: new Date(0),
    elapsedMs: 3200.4,
    ctxId: asCtxId(5),
    result: "",
    allowedDevices: ["/dev/fs", "/dev/shell"],
    exit: null,
    groups: [],
    threads: 0,
    coroutines: 0,
    name: "",
    model: "",
    ...fields,
  };
}

/** Process 7 sees itself and 9; 8 is somebody else's. */
function view(): ProcView & { processes: ProcInfo[] } {
  const exit = { code: 1, reason: "timeout", kind: "done" } as const;
  const ended = { state: "zombie", activity: null, allowedDevices: null, exit } as const;
  const processes = [info(7), info(8), info(9, ended)];
  const visible = (viewer: Pid) => processes.filter(({ pid }) => viewer === 0 || pid !== 8);
  return {
    processes,
    list: visible,
    find: (viewer, pid) => visible(viewer).find((found) => found.pid === pid),
    words: async () => undefined,
    contextSummary: async (pid) => `context of ${pid}`,
    contextView: async (pid) => (pid === 7 ? VIEW : undefined),
    contextStat: async (pid) => (pid === 7 ? ({ used: 9 } as never) : undefined),
    labels: async () => [],
    jobs: async () => [],
    kept: async () => undefined,
    planPath: () => null,
    fds: () => [{ fd: asFd(3), path: "/dev/llm/script", flags: 2 }],
    account: () => ({ limit: 100, used: 20, reserved: 5 }),
    sched: () => ({ class: "background", weight: 10 }),
    lanes: () => [],
    signals: (pid) => (pid === 7 ? { blocked: [1, 4], pending: [4], handled: [3] } : NO_SIGNALS),
    tools: () => ({ within: [["bash"]], denied: ["edit"] }),
    servers: (pid) => (pid === 7 ? [{ name: "memory", path: "/mnt/mcp/7-memory", state: "connected" }] : []),
    mounts: (pid) => (pid === 7 ? [{ path: "/mnt/mcp/7-memory", device: "stdio: npx server-memory" }] : []),
    supervisor: (pid) => (pid === 9 ? SUPERVISOR : undefined),
  };
}

const VIEW: ViewState = {
  ...{ head: 1, records: 9, undoable: 1, numbers: [9, 2, 7], pins: [2] },
  view: { put: 9, keep: [[2, 2]], clears: [], tailFrom: 7 },
};
const NO_SIGNALS = { blocked: [], pending: [], handled: [] };
const CRASH: ExitStatus = { code: 1, reason: "exit 1", kind: "fault", err: new Error("behind it") };
const SUPERVISOR: SupervisorView = {
  name: "notes",
  strategy: "one_for_one",
  intensity: { maxRestarts: 5, windowMs: 60_000 },
  children: [
    {
      id: "writer",
      pid: null,
      state: "restarting",
      restart: "permanent",
      restarts: 1,
      lastExit: CRASH,
      nextStartAt: 1_700_000_001_000,
    },
    {
      id: "reader",
      pid: asPid(12),
      state: "running",
      restart: "temporary",
      restarts: 0,
      lastExit: null,
      nextStartAt: null,
    },
  ],
  crashes: [
    {
      supervisor: "notes",
      child: "writer",
      pid: asPid(11),
      exit: CRASH,
      cause: "behind it",
      restarts: 1,
      decision: "restart",
      delayMs: 1_000,
      at: 1_700_000_000_000,
    },
  ],
};

deviceContract("/proc", async () => ({
  device: procDevice(view()),
  caller,
  readable: { subpath: "/7/intent", content: "分析代码" },
  refused: [
    { subpath: "/8/status", flags: 0, code: "NOT_FOUND" },
    { subpath: "/99", flags: 0, code: "NOT_FOUND" },
    { subpath: "/07/status", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/none", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/supervisor", flags: 0, code: "NOT_FOUND" },
    { subpath: "/8/signals", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/signals", flags: 1, code: "PERMISSION" },
    { subpath: "/7/constructor", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/status/x", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/context/messages", flags: 0, code: "NOT_FOUND" },
    { subpath: "/8/context/stat", flags: 0, code: "NOT_FOUND" },
    { subpath: "/9/context/view", flags: 0, code: "NOT_FOUND" },
    { subpath: "/7/status", flags: 1, code: "PERMISSION" },
    { subpath: "/7/status", flags: 2, code: "PERMISSION" },
    { subpath: "", flags: 1, code: "PERMISSION" },
  ],
}));

describe("/proc", () => {
  const read = (subpath: string, pid = 7) =>
    openAndRead(procDevice(view()), subpath, callerIn("/", { pid: asPid(pid) }));

  it("lists the visible pids; all for pid 0", async () => {
    expect(JSON.parse(await read(""))).toEqual([7, 9]);
    expect(JSON.parse(await read("", 0))).toEqual([7, 8, 9]);
  });

  it("status has its eight keys in order, then what else there is", async () => {
    expect(await read("/self/status")).toBe(
      '{"pid":7,"ppid":0,"state":"running","intent":"分析代码","skills":["code-analysis"],"tokens_used":456,' +
        '"elapsed_ms":3200,"allowed_devices":["/dev/fs","/dev/shell"],"kind":"agent","activity":"thinking","ctx_id":5}',
    );
    const ended = JSON.parse(await read("/9/status"));
    expect(ended).toMatchObject({
      allowed_devices: null,
      exit: { code: 1, reason: "timeout", kind: "done" },
    });
    expect(Object.keys(ended).slice(8)).toEqual(["kind", "ctx_id", "exit"]);
  });

  it("context, fd and account; a process is the list of its files", async () => {
    expect(await read("/9/context")).toBe("context of 9");
    expect(JSON.parse(await read("/self/fd"))).toEqual([{ fd: 3, path: "/dev/llm/script", flags: 2 }]);
    expect(await read("/7/account")).toBe('{"limit":100,"used":20,"reserved":5}');
    expect(await read("/7/sched")).toBe('{"class":"background","weight":10}');
    const names = [
      "status",
      "intent",
      "context",
      "context/stat",
      "context/view",
      "context/pins",
      "fd",
      "mounts",
      "tools",
      "servers",
      "labels",
      "jobs",
      "todo",
      "plan",
      "account",
      "sched",
      "signals",
    ];
    expect(JSON.parse(await read("/7"))).toEqual(names);
    expect(JSON.parse(await read("/9"))).toEqual([...names, "supervisor"]);
  });

  it("what is in view of a process, in numbers alone", async () => {
    expect(JSON.parse(await read("/self/context/view"))).toEqual(VIEW);
    expect(await read("/7/context/pins")).toBe("[2]");
    expect(await read("/7/context/stat")).toBe('{"used":9}');
  });

  it("signals and mounts", async () => {
    expect(await read("/self/signals")).toBe('{"blocked":[1,4],"pending":[4],"handled":[3]}');
    expect(await read("/9/signals")).toBe('{"blocked":[],"pending":[],"handled":[]}');
    expect(await read("/self/mounts")).toBe(
      '[{"path":"/mnt/mcp/7-memory","device":"stdio: npx server-memory"}]',
    );
    expect(await read("/9/mounts")).toBe("[]");
  });

  it("supervisor: its children in order, exits without the error behind them", async () => {
    const exit = { code: 1, reason: "exit 1", kind: "fault" };
    expect(JSON.parse(await read("/9/supervisor"))).toEqual({
      ...SUPERVISOR,
      children: [{ ...SUPERVISOR.children[0], lastExit: exit }, SUPERVISOR.children[1]],
      crashes: [{ ...SUPERVISOR.crashes[0], exit }],
    });
  });

  it("what another process says has the labels of all that it has read, numbers have none", async () => {
    const web = [{ kind: "untrusted", source: "web", detail: "https://a.io" }] as const;
    const device = procDevice({ ...view(), labels: async () => web });
    const labelsOf = async (path: string) => (await device.open(path, 0, caller)).carried?.labels ?? [];
    for (const name of ["intent", "status", "context", "todo", "plan"])
      expect([name, await labelsOf(`/9/${name}`)]).toEqual([name, web]);
    for (const path of ["/7/todo", "/self/todo", "/9/account", "/9/labels", "/9", ""])
      expect([path, await labelsOf(path)]).toEqual([path, []]);
  });

  it("a file shows the moment it was opened", async () => {
    const changing = view();
    const file = await procDevice(changing).open("/7/intent", 0, caller);
    changing.processes[0] = info(7, { intent: "another" });
    expect(String(await readAll(file))).toBe("分析代码");
  });
});
