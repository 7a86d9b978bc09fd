import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";

const end = (exit_code: number, reason: string) => ({
  pid: 1,
  exit_code,
  reason,
  kind: "done",
  tokens_used: 1234,
  elapsed_ms: 6200,
});
const ending = (code: number, reason: string) => new FakeDaemon({ "process.wait": () => end(code, reason) });

const LAST = "[kernel] PID 1 exited(7) | tokens: 1234 | elapsed: 6.2s\n";
const SCREENS = {
  default: LAST,
  verbose: `[kernel] PID 1: exit 7\n${LAST}`,
  quiet: "",
  json: '{"ok": true, "data": {"pid": 1, "exit_code": 7, "reason": "exit 7"}}\n',
};

test.each(MODE_FLAGS)("wait %s is %s, and ends as the process did", async (flags, mode) => {
  const { out, err, code, daemon } = await crux(`wait 1 ${flags}`, { daemon: ending(7, "exit 7") });
  const more = /-v|--verbose/.test(flags) ? ', "tokens_used": 1234, "elapsed_ms": 6200' : "";
  const screen = mode === "json" ? SCREENS.json.replace(/}}$/m, `${more}}}`) : SCREENS[mode];
  expect({ out, err, code }).toEqual({ out: screen, err: "", code: 7 });
  expect(daemon.asked).toEqual([["process.wait", { pid: 1 }]]);
  expect(daemon.openConnections).toBe(0);
});

test.each([0, 1, 2, 130, 137, 143])("wait exits with %i", async (code) => {
  expect((await crux("wait 1", { daemon: ending(code, "x") })).code).toBe(code);
});

test("wait for one that never was is NOT_FOUND", async () => {
  const daemon = new FakeDaemon({
    "process.wait": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "process not found: 9",
        syscall: "Wait",
        pid: 0,
        fact: { kind: "no_process", pid: 9 },
      });
    },
  });
  expect(await crux("wait 9", { daemon })).toMatchObject({
    out: "",
    err: "✗ [NOT_FOUND] PID 0 Wait: process not found: 9\n  → hint: crux ps lists the processes\n",
    code: 1,
  });
});

test("Ctrl-C ends the waiting and sends nothing", async () => {
  const asked = Promise.withResolvers<void>();
  const daemon = new FakeDaemon({
    "process.wait": () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const { host, interrupt, stdout, stderr } = aMachine({ daemon });
  const code = runCli(["wait", "1"], host);
  await asked.promise;
  interrupt();
  expect(await code).toBe(130);
  expect([stdout.text, stderr.text]).toEqual(["", "[wait] PID 1 continues\n"]);
  expect(daemon.asked).toHaveLength(1);
  expect(daemon.openConnections).toBe(0);
});

test.each(["wait", "wait 1 2", "wait x"])("%s is INVALID and reaches no daemon", async (line) => {
  const { err, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect(daemon.reached).toEqual([]);
});

test("wait for a session that rests says that nothing of it runs, and how to go on or end it", async () => {
  const daemon = new FakeDaemon({
    "process.wait": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "process not found: 9",
        syscall: "Wait",
        pid: 0,
        fact: { kind: "no_process", pid: 9 },
      });
    },
    "session.list": () => ({ sessions: [{ pid: 9, state: "resting" }] }),
  });
  expect(await crux("wait 9", { daemon })).toMatchObject({
    out: "",
    err: "✗ [CONFLICT] process 9 is a session that rests: nothing of it runs\n  → hint: crux -r 9 continues it, crux kill 9 ends it\n",
    code: 1,
  });
  expect(daemon.openConnections).toBe(0);
});

test("wait tells the cost when asked for more", async () => {
  const daemon = () =>
    new FakeDaemon({ "process.wait": () => ({ ...end(0, "completed"), cost_usd: 0.5, unpriced_calls: 2 }) });
  const { out } = await crux("wait 1 -v", { daemon: daemon() });
  expect(out).toContain("PID 1: completed | cost: $0.50, and 2 calls without a known price\n");
  const { data } = JSON.parse((await crux("wait 1 --json -v", { daemon: daemon() })).out);
  expect(data).toEqual({
    ...{ pid: 1, exit_code: 0, reason: "completed" },
    ...{ tokens_used: 1234, elapsed_ms: 6200, cost_usd: 0.5, unpriced_calls: 2 },
  });
});
