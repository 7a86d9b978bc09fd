import { expect, test } from "vitest";
import type { WireProc } from "../../../abi/methods/process.ts";
import { runCli } from "../../cli.ts";
import { aProcess, aRow, FakeDaemon } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";

const zombie = aProcess({ pid: 2, ppid: 1, state: "zombie", skills: [], tokens_used: 123, elapsed_ms: 1100 });
const running = (processes = [aProcess(), zombie]) =>
  new FakeDaemon({ list_procs: () => ({ processes }), "process.ended": () => ({ processes: [] }) });

const DEFAULT = `  PID   STATE     SKILL              TOKENS   ELAPSED
─────   ─────────   ───────────────   ────────   ────────
    1   running   code-analysis        456      3.2s
    2   zombie    —                    123      1.1s

1 active, 1 zombie, 2 total
`;

const JSON_ONE = `{
  "ok": true,
  "data": {
    "processes": [
      {
        "pid": 1,
        "ppid": 0,
        "state": "running",
        "intent": "分析代码",
        "skills": ["code-analysis"],
        "tokens_used": 456,
        "elapsed_ms": 3200
      }
    ]
  }
}
`;

test.each(MODE_FLAGS)("ps %s is %s", async (flags, mode) => {
  const before = await crux(`${flags} ps`, { daemon: running() });
  const after = await crux(`ps ${flags}`, { daemon: running() });
  expect(after.out).toBe(before.out);
  expect(after).toMatchObject({ err: "", code: 0 });
  expect(after.daemon.openConnections).toBe(0);
  if (mode === "default") expect(after.out).toBe(DEFAULT);
  if (mode === "verbose") expect(after.out.split("\n")[0]).toMatch(/ELAPSED {3}INTENT$/);
  if (mode === "quiet") expect(after.out).toBe("1\n2\n");
  if (mode === "json") expect(JSON.parse(after.out).data.processes).toHaveLength(2);
});

test("ps follows the pages of the daemon", async () => {
  const pages = new Map([
    [0, { processes: [aProcess()], next: 1 }],
    [1, { processes: [zombie] }],
  ]);
  const daemon = new FakeDaemon({ list_procs: (page) => pages.get((page as { cursor: number }).cursor) });
  expect((await crux("ps", { daemon })).out).toBe(DEFAULT);
});

test("ps --json is the object of the manual, with seven keys", async () => {
  expect((await crux("ps --json", { daemon: running([aProcess()]) })).out).toBe(JSON_ONE);
});

test("ps --json --verbose adds keys after the seven", async () => {
  const exit = { code: 0, reason: "completed", kind: "done" } as const;
  const { out } = await crux("ps --json --verbose", {
    daemon: running([aProcess({ exit, groups: [1, 2] })]),
  });
  expect(out).toContain(`        "elapsed_ms": 3200,
        "kind": "agent",
        "activity": "thinking",
        "created_at": "2026-01-01T00:00:00.000Z",
        "ctx_id": 1,
        "allowed_devices": null,
        "groups": [1, 2],
        "result": "",
        "exit": {
          "code": 0,
          "reason": "completed",
          "kind": "done"
        },
        "cost_usd": 0
`);
});

test("ps --verbose tells a person what all has cost, where anything has; the table stays as it is", async () => {
  const processes = [aProcess({ cost_usd: 0.25 }), { ...zombie, cost_usd: 0.005 }];
  const status = { sandbox: { available: true, kind: "bubblewrap", mode: "on" } };
  const paid = () => new FakeDaemon({ list_procs: () => ({ processes }), "kernel.status": () => status });
  const plain = (await crux("ps -v", { daemon: running() })).out;
  expect(await crux("ps -v", { daemon: paid() })).toMatchObject({ out: plain, err: "" });
  const seen = await crux("ps -v", { daemon: paid(), isTerminal: true });
  expect(seen.err + seen.out).toContain("[kernel] cost: $0.26; crux budget shows whose\n");
  expect(JSON.parse((await crux("ps --json -v", { daemon: paid() })).out).data.processes[1].cost_usd).toBe(
    0.005,
  );
});

test("ps of nothing", async () => {
  expect((await crux("ps", { daemon: running([]) })).out).toBe("No active processes.\n");
  expect((await crux("ps -q", { daemon: running([]) })).out).toBe("");
  expect((await crux("ps --json", { daemon: running([]) })).out).toContain('"processes": []');
});

test("ps leaves services to -a", async () => {
  const processes = [aProcess(), aProcess({ pid: 5, kind: "service" })];
  expect((await crux("ps -q", { daemon: running(processes) })).out).toBe("1\n");
  expect((await crux("ps -qa", { daemon: running(processes) })).out).toBe("1\n5\n");
});

test.each(["ps 1", "ps --tree-of-life", "ps --model x"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, out, code, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
  },
);

test("ps tells a person at a terminal who does nothing until somebody acts, and what to type; a script gets the table alone", async () => {
  const doing = (pid: number, activity: WireProc["activity"]) => aProcess({ pid, activity });
  const processes = [
    ...[1, 2].map((pid) => doing(pid, "paused")),
    doing(3, "thinking"),
    doing(4, "blocked"),
    doing(5, "waiting"),
    zombie,
  ];
  const { host, stdout, stderr } = aMachine({ daemon: running(processes), isTerminal: true });
  expect(await runCli(["ps"], host)).toBe(0);
  expect(stderr.text).toBe(
    [
      "[kernel] paused: PID 1 2; crux cont <pid> resumes it",
      "[kernel] blocked, waiting for an answer: PID 4; crux attach 4 shows the question",
      "[kernel] waiting for a message: PID 5; crux -r 5 continues it",
      "",
    ].join("\n"),
  );
  expect(stdout.text).toContain("5 active, 1 zombie, 6 total\n");
  expect(await crux("ps", { daemon: running(processes) })).toMatchObject({ out: stdout.text, err: "" });
  const off = { available: true, kind: "bubblewrap", mode: "off" };
  const told = new FakeDaemon({
    list_procs: () => ({ processes: [] }),
    "kernel.status": () => ({ sandbox: off }),
  });
  const verbose = aMachine({ daemon: told, isTerminal: true });
  expect(await runCli(["ps", "-v"], verbose.host)).toBe(0);
  expect(verbose.stderr.text).toContain("sandbox: off (sandbox.mode is off)");
  const many = Array.from({ length: 20 }, (_, at) => doing(at + 1, "paused"));
  const crowd = aMachine({ daemon: running(many), isTerminal: true });
  expect(await runCli(["ps"], crowd.host)).toBe(0);
  expect(crowd.stderr.text).toContain("paused: PID 1 2 3 4 5 6 7 8 and 12 more; crux cont <pid>");
});

test("ps and tree have one word for each hold, and --json what ends it", async () => {
  const held = (pid: number, activity: WireProc["activity"], why?: WireProc["held"]) =>
    aRow({ pid, activity, ...(why === undefined ? {} : { held: why }) });
  const processes = [
    held(1, "paused", "signal"),
    held(2, "blocked"),
    held(3, "paused", "crash"),
    held(4, "paused", "damage"),
    held(5, "paused", "disk"),
    held(6, "thinking"),
  ];
  const daemon = () =>
    new FakeDaemon({ list_procs: () => ({ processes }), "process.list": () => ({ processes }) });
  const words = ["paused", "blocked", "held", "held", "paused"];
  const ps = await crux("ps", { daemon: daemon(), isTerminal: true });
  const rows = ps.out.split("\n").slice(2, 8);
  expect(rows.map((row) => row.trim().split(/\s+/)[1])).toEqual([...words, "running"]);
  // the columns stay where the manual has them
  expect(new Set(rows.map((row) => row.length))).toEqual(new Set([DEFAULT.split("\n")[2]?.length]));
  const tree = await crux("tree", { daemon: daemon(), isTerminal: true });
  const states = tree.out
    .split("\n")
    .slice(2, 8)
    .map((row) => row.split(/\s{2,}/)[2]);
  expect(states).toEqual([...words, "running/thinking"]);
  expect(tree.err).toBe(ps.err);
  expect(ps.err.split("\n")).toEqual([
    "[kernel] paused: PID 1; crux cont 1 resumes it",
    "[kernel] held after a crash of the daemon: PID 3; crux cont 3 resumes it",
    "[kernel] held because its history is damaged: PID 4; crux fsck 4 shows what is",
    "  wrong",
    "[kernel] paused because the disk of the journal takes nothing: PID 5; it is",
    "  resumed when there is room",
    "[kernel] blocked, waiting for an answer: PID 2; crux attach 2 shows the question",
    "",
  ]);
  for (const line of ["ps --json", "tree --json"]) {
    const shown = JSON.parse((await crux(line, { daemon: daemon() })).out).data.processes as {
      held?: object;
    }[];
    expect(shown[2]?.held).toEqual({
      state: "held",
      reason: "held after a crash of the daemon",
      next: "crux cont 3",
    });
    expect(shown.map(({ held }) => held !== undefined)).toEqual([true, true, true, true, true, false]);
  }
});

test("ps -a has what ended as well, page by page, in the order of pids", async () => {
  const gone = (pid: number) =>
    aRow({ pid, state: "dead", activity: null, exit: { code: 1, reason: "x", kind: "fault" } });
  const pages: Record<number, unknown> = {
    0: { processes: [gone(9), gone(8)], next: 8 },
    8: { processes: [gone(1)] },
  };
  const daemon = new FakeDaemon({
    list_procs: () => ({ processes: [aProcess({ pid: 4 })] }),
    "process.ended": (page) => pages[(page as { before?: number }).before ?? 0],
  });
  const { out, err } = await crux("ps -a", { daemon });
  expect(out).toContain("\n    1   dead ");
  expect([out.split("\n").at(-2), err]).toEqual(["1 active, 0 zombie, 3 ended, 4 total", ""]);
  expect((await crux("ps -aq", { daemon })).out).toBe("1\n4\n8\n9\n");
});
