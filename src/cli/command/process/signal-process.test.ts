import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
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

test.each(["pause", "pause 1 2", "pause x", "cont", "cont 1 --forest", "pause -s 4 1"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, out, code, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
  },
);
