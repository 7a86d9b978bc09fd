import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const SCREENS = {
  default: "[kernel] PID 1: signal sent (SIGTERM)\n",
  verbose: "[kernel] PID 1: signal sent (SIGTERM)\n",
  quiet: "",
  json: '{"ok": true, "data": {"pid": 1, "signal": "SIGTERM"}}\n',
};

test.each(MODE_FLAGS)("kill %s is %s", async (flags, mode) => {
  for (const line of [`kill 1 ${flags}`, `${flags} kill 1`]) {
    const { out, err, code, daemon } = await crux(line);
    expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
    expect(daemon.asked).toEqual([["kill", { pid: 1, signal: 1 }]]);
    expect(daemon.openConnections).toBe(0);
  }
});

test.each(["-s pause", "-s 4", "-s SIGPAUSE", "--signal=sigpause", "--signal Pause", "-s4"])(
  "kill %s 1 sends SIGPAUSE",
  async (flag) => {
    const { out, daemon } = await crux(`kill ${flag} 1`);
    expect(daemon.asked).toEqual([["kill", { pid: 1, signal: 4 }]]);
    expect(out).toBe("[kernel] PID 1: signal sent (SIGPAUSE)\n");
  },
);

test.each([
  "kill",
  "kill 1 2",
  "kill x",
  "kill 1x",
  "kill -s hup 1",
  "kill -s 6 1",
  "kill --signal= 1",
  "kill --tree",
  "kill 1 --forest",
  "kill -1",
])("%s is INVALID and reaches no daemon", async (line) => {
  const { out, err, code, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] .+\n( {2}→ hint: .+\n)?$/);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

const unknown = () =>
  new FakeDaemon({
    kill: () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "process not found: 9",
        syscall: "Kill",
        pid: 0,
        fact: { kind: "no_process", pid: 9 },
      });
    },
  });

test("kill of an unknown pid is the screen of the manual", async () => {
  expect(await crux("kill 9", { daemon: unknown() })).toMatchObject({
    out: "",
    err: "✗ [NOT_FOUND] PID 0 Kill: process not found: 9\n  → hint: crux ps lists the processes\n",
    code: 1,
  });
});

test("kill --json of an unknown pid is one object on stdout, in either language", async () => {
  for (const env of [{ CRUX_LANG: "zh" }, { CRUX_LANG: "en" }])
    expect(await crux("kill 9 --json", { daemon: unknown(), env })).toMatchObject({
      out: '{"ok": false, "error": {"code": "NOT_FOUND", "message": "process not found: 9", "syscall": "Kill"}}\n',
      err: "",
      code: 1,
    });
});
