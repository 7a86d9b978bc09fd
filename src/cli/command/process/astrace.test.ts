import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { aProcess, FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";
import { SAMPLE_TRACE, SAMPLE_TRACE_LINES } from "../../testing/sample-trace.ts";

const list_procs = () => ({ processes: [aProcess()] });
const feed = () =>
  new Feed().push(...SAMPLE_TRACE.map((payload) => ({ type: "syscall_event" as const, payload })));
const ended = (payload?: unknown) =>
  new FakeDaemon({ list_procs }, feed().push({ type: "eof", payload }).end());

const SAMPLE = [
  "[astrace] attached to PID 1 (state: running)",
  ...SAMPLE_TRACE_LINES,
  "[astrace] detached from PID 1 (process exited)",
  "",
].join("\n");

test("astrace is the sample of the manual", async () => {
  const { out, err, code, daemon } = await crux("astrace 1", {
    daemon: ended(),
    env: { LANG: "zh_CN.UTF-8" },
  });
  expect(out).toBe(SAMPLE);
  expect({ err, code, open: daemon.openConnections }).toEqual({ err: "", code: 0, open: 0 });
  expect(daemon.asked[1]).toEqual(["attach_debug", { pid: 1, all: false }]);
});

test.each(MODE_FLAGS)("astrace %s is %s", async (flags, mode) => {
  const { out, daemon } = await crux(`${flags} astrace 1`, { daemon: ended() });
  expect((await crux(`astrace 1 ${flags}`, { daemon: ended() })).out).toBe(out);
  const lines = out.split("\n").slice(0, -1);
  expect(daemon.asked[1]).toEqual(["attach_debug", { pid: 1, all: mode === "verbose" }]);
  if (mode === "quiet")
    expect(lines).toEqual(SAMPLE_TRACE_LINES.map((line) => line.replace("LLM 调用", "LLM call")));
  if (mode === "verbose")
    expect(lines[2]).toBe('           args={"flags": 2, "path": "/dev/llm/claude"} result=3');
  if (mode === "json") {
    expect(lines).toHaveLength(SAMPLE_TRACE.length);
    expect(lines[1]).toBe(
      '{"timestamp_ms": 14, "pid": 1, "syscall": "Write", "args": {"fd": 3, "size": 1234}, "duration_ms": 5200.0}',
    );
  }
});

test("astrace counts what was dropped, where it disturbs no script", async () => {
  const { out } = await crux("astrace 1", { daemon: ended({ dropped: 3 }) });
  expect(out.split("\n").slice(-3)).toEqual([
    "[astrace] 3 events dropped",
    "[astrace] detached from PID 1 (process exited)",
    "",
  ]);
  expect((await crux("astrace 1 --json", { daemon: ended({ dropped: 3 }) })).err).toBe(
    "[astrace] 3 events dropped\n",
  );
});

test("astrace ends with 0 at Ctrl-C, and listens no more", async () => {
  const daemon = new FakeDaemon({ list_procs }, feed());
  const { host, stdout, interrupt } = aMachine({ daemon });
  const code = runCli(["astrace", "1"], host);
  await stdout.shows("Close(fd=4)");
  interrupt();
  expect(await code).toBe(0);
  expect(stdout.text).toMatch(/\n\[astrace\] detached from PID 1 \(interrupted\)\n$/);
  expect(daemon.openConnections).toBe(0);
});

test("astrace of a daemon that goes away is UNAVAILABLE", async () => {
  const { err, code } = await crux("astrace 1", { daemon: new FakeDaemon({ list_procs }, feed().end()) });
  expect(err).toMatch(/^✗ \[UNAVAILABLE\] daemon closed the connection\n {2}→ hint: crux ps/);
  expect(code).toBe(1);
});

test("astrace --json of an unknown pid is the wrapped object", async () => {
  const daemon = new FakeDaemon({
    list_procs,
    attach_debug: () => {
      throw new WireFault({ code: "NOT_FOUND", message: "process not found: 9", syscall: "AttachDebug" });
    },
  });
  const { out, code } = await crux("astrace 9 --json", { daemon });
  expect(JSON.parse(out)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  expect(code).toBe(1);
});

test.each(["astrace", "astrace 1 2", "astrace x", "astrace 1 --follow"])("%s is INVALID", async (line) => {
  expect(await crux(line)).toMatchObject({ out: "", code: 1, err: expect.stringMatching(/^✗ \[INVALID\]/) });
});
