import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { aProcess, FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const reaching = (...pids: number[]) => new FakeDaemon({ "process.signal": () => ({ pids }) });

const SCREENS = {
  default: "[kernel] PID 1: signal sent (SIGPAUSE)\n",
  verbose: "[kernel] PID 1: signal sent (SIGPAUSE)\n",
  quiet: "",
  json: '{"ok": true, "data": {"pid": 1, "signal": "SIGPAUSE", "pids": [1]}}\n',
};

test.each(MODE_FLAGS)("pause %s is %s", async (flags, mode) => {
  for (const line of [`pause 1 ${flags}`, `${flags} pause 1`]) {
    const { out, err, code, daemon } = await crux(line, { daemon: reaching(1) });
    expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
    expect(daemon.asked).toEqual([["process.signal", { pid: 1, signal: 4 }]]);
    expect(daemon.openConnections).toBe(0);
  }
});

test("pause --tree has a line for each process that was reached", async () => {
  const { out, daemon } = await crux("pause 1 --tree", { daemon: reaching(1, 4, 7) });
  expect(out).toBe([1, 4, 7].map((pid) => `[kernel] PID ${pid}: signal sent (SIGPAUSE)\n`).join(""));
  expect(daemon.asked).toEqual([["process.signal", { pid: 1, signal: 4, tree: true }]]);
});

test("cont brings the environment of this terminal, without our place at the socket", async () => {
  const env = { OPENAI_API_KEY: "k", CRUX_IPC_SOCKET: "/s", KAIRO_IPC_SOCKET: "/s" };
  const { out, daemon } = await crux("cont 1", { daemon: reaching(1), env });
  expect(out).toBe("[kernel] PID 1: signal sent (SIGRESUME)\n");
  expect(daemon.asked).toEqual([["process.signal", { pid: 1, signal: 5, env: { OPENAI_API_KEY: "k" } }]]);
});

test("kill --tree is the subtree form, with any signal", async () => {
  const { out, daemon } = await crux("kill --tree -s int 1", { daemon: reaching(1, 2) });
  expect(out).toBe("[kernel] PID 1: signal sent (SIGINT)\n[kernel] PID 2: signal sent (SIGINT)\n");
  expect(daemon.asked).toEqual([["process.signal", { pid: 1, signal: 3, tree: true }]]);
});

test("a process that has ended is not said to be paused", async () => {
  expect(await crux("pause 1", { daemon: reaching() })).toMatchObject({
    out: "",
    err: "✗ [CONFLICT] process 1 has ended\n  → hint: crux logs 1 shows what it did\n",
    code: 1,
  });
});

test("a pid that is not there says how to find one", async () => {
  const daemon = new FakeDaemon({
    "process.signal": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "process not found: 9",
        syscall: "Signal",
        pid: 0,
        fact: { kind: "no_process", pid: 9 },
      });
    },
  });
  expect(await crux("cont 9", { daemon })).toMatchObject({
    err: "✗ [NOT_FOUND] PID 0 Signal: process not found: 9\n  → hint: crux ps lists the processes\n",
    code: 1,
  });
});

test("pause and cont take several, by pid, by name or by id; one that fails stops no other", async () => {
  const rows = [
    aProcess({ pid: 3, agent_id: "agent-00000000000c", called: "alice" }),
    aProcess({ pid: 5, agent_id: "agent-0000000000ff", called: "alice" }),
    aProcess({ pid: 8, called: "alice", state: "zombie" }),
  ];
  const daemon = () =>
    new FakeDaemon({
      list_procs: () => ({ processes: rows }),
      "process.signal": (payload) => {
        const { pid } = payload as { pid: number };
        return { pids: pid === 9 ? [] : [pid] };
      },
    });
  const named = await crux("cont 7 alice agent-00000000000c 7 --json", { daemon: daemon() });
  expect(JSON.parse(named.out).data).toEqual({
    signals: [7, 5, 3].map((pid) => ({ pid, signal: "SIGRESUME", pids: [pid] })),
  });
  const some = await crux("pause 9 bob 7", { daemon: daemon() });
  expect([some.code, some.out]).toEqual([1, "[kernel] PID 7: signal sent (SIGPAUSE)\n"]);
  expect(some.err).toBe(
    "✗ [CONFLICT] process 9 has ended\n  → hint: crux logs 9 shows what it did\n" +
      "✗ [NOT_FOUND] no agent is called bob\n  → hint: crux ps --tree lists them\n",
  );
});

test.each(["pause", "pause 1x", "pause ../x", "cont", "cont 1 --forest", "pause -s 4 1"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, out, code, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
  },
);
