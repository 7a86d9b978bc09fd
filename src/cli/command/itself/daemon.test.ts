import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const status = () => ({ version: "0.1.0", os_pid: 4711, processes: 3, connections: 1, uptime_ms: 62_000 });
const running = () => new FakeDaemon({ "kernel.status": status });
const stopped = () => Object.assign(running(), { isRunning: false });

const JSON_RUNNING =
  '{"ok": true, "data": {"running": true, "pid": 4711, "version": "0.1.0", "processes": 3, "connections": 1, "uptime_ms": 62000, "safe_mode": false}}\n';

test.each(MODE_FLAGS)("daemon %s is %s", async (flags, mode) => {
  const run = async (line: string) => (await crux(`${line} ${flags}`, { daemon: running() })).out;
  const screens = {
    start: "[daemon] running (PID 4711)\n",
    status: "[daemon] running (PID 4711) | version: 0.1.0 | processes: 3 | connections: 1 | uptime: 62.0s\n",
    stop: "[daemon] stopped\n",
    restart: "[daemon] stopped\n[daemon] running (PID 4711)\n",
  };
  for (const [verb, screen] of Object.entries(screens)) {
    const out = await run(`daemon ${verb}`);
    if (mode === "default" || mode === "verbose") expect(out).toBe(screen);
    if (mode === "quiet") expect(out).toBe(verb === "stop" ? "" : "4711\n");
    if (mode === "json")
      expect(out).toBe(verb === "stop" ? '{"ok": true, "data": {"running": false}}\n' : JSON_RUNNING);
  }
});

const here = { available: true, kind: "bubblewrap", mode: "on" };
const none = {
  available: false,
  why: "bubblewrap is not installed",
  fix: "apt-get install bubblewrap",
  mode: "on",
};

test.each([
  [here, "sandbox: bubblewrap"],
  [{ ...here, mode: "required" }, "sandbox: bubblewrap, required"],
  [{ ...here, mode: "off" }, "sandbox: off (sandbox.mode is off)"],
  [none, "sandbox: off (bubblewrap is not installed; apt-get install bubblewrap)"],
])("daemon status tells of the sandbox: %j", async (sandbox, words) => {
  const daemon = new FakeDaemon({ "kernel.status": () => ({ ...status(), sandbox, peers: "directory" }) });
  const { out } = await crux("daemon status -v", { daemon });
  expect(out).toContain(` | ${words} | peers: `);
  // without -v only what is amiss
  const plain = await crux("daemon status", { daemon });
  expect(plain.out.includes("sandbox")).toBe(words.startsWith("sandbox: off"));
  const json = JSON.parse((await crux("daemon status --json", { daemon })).out);
  expect(json.data).toMatchObject({ running: true, sandbox, peers: "directory" });
});

test("daemon status of none exits 1 and starts none", async () => {
  const { out, code, daemon } = await crux("daemon status", { daemon: stopped() });
  expect({ out, code, reached: daemon.reached }).toEqual({
    out: "[daemon] not running\n",
    code: 1,
    reached: ["find"],
  });
});

test("daemon stop, and shutdown, wait until it is gone", async () => {
  for (const line of ["daemon stop", "shutdown"]) {
    const { out, code, daemon } = await crux(line, { daemon: running() });
    expect({ out, code }).toEqual({ out: "[daemon] stopped\n", code: 0 });
    expect(daemon.asked).toEqual([["shutdown", {}]]);
    expect(daemon).toMatchObject({ reached: ["find", "gone"], openConnections: 0 });
  }
});

test("daemon stop of none is done", async () => {
  expect(await crux("daemon stop", { daemon: stopped() })).toMatchObject({
    out: "[daemon] not running\n",
    code: 0,
  });
});

test.each(["daemon is shutting down", "daemon closed the connection"])(
  "daemon stop of one that is leaving (%s) waits until it is gone",
  async (message) => {
    const daemon = running();
    daemon.find = async () => {
      throw new WireFault({ code: "UNAVAILABLE", message, fact: { kind: "stopping" } });
    };
    expect(await crux("daemon stop", { daemon })).toMatchObject({
      out: "[daemon] stopped\n",
      err: "",
      code: 0,
    });
    expect(daemon.reached).toEqual(["gone"]);
  },
);

test("daemon stop of one that is full says so", async () => {
  const daemon = running();
  daemon.find = async () => {
    throw new WireFault({ code: "UNAVAILABLE", message: "too many connections (256)" });
  };
  const { err, code } = await crux("daemon stop", { daemon });
  expect([err, code]).toEqual(["✗ [UNAVAILABLE] too many connections (256)\n", 1]);
});

const deaf = () => {
  const daemon = running();
  daemon.find = async () => {
    throw new WireFault({
      code: "UNAVAILABLE",
      message: "daemon (PID 4711) does not answer",
      hint: "crux daemon restart --force",
    });
  };
  return daemon;
};

test("daemon stop of one that does not answer names --force, and --force ends it", async () => {
  expect(await crux("daemon stop", { daemon: deaf() })).toMatchObject({
    out: "",
    err: "✗ [UNAVAILABLE] daemon (PID 4711) does not answer\n  → hint: crux daemon restart --force\n",
    code: 1,
  });
  const forced = await crux("shutdown --force", { daemon: deaf() });
  expect(forced).toMatchObject({ out: "[daemon] stopped\n", err: "", code: 0 });
  expect(forced.daemon.reached).toEqual(["force"]);
  expect((await crux("daemon restart --force", { daemon: deaf() })).out).toBe(
    "[daemon] stopped\n[daemon] running (PID 4711)\n",
  );
});

test("daemon stop says when it takes too long", async () => {
  const daemon = running();
  daemon.gone = async () => {
    throw new DOMException("late", "TimeoutError");
  };
  expect((await crux("daemon stop", { daemon })).err).toBe(
    "✗ [TIMEOUT] daemon did not stop within 15s\n  → hint: crux daemon stop --force\n",
  );
});

test.each([
  "daemon",
  "daemon dance",
  "daemon start now",
  "daemon start --hard",
  "shutdown now",
  "daemon constructor",
])("%s is INVALID", async (line) => {
  const { err, code, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
});

test("daemon start --normal leaves safe mode, and lets one be that runs as it should", async () => {
  const safe = new FakeDaemon({ "kernel.status": () => ({ ...status(), safe_mode: true }) });
  expect((await crux("daemon start --normal", { daemon: safe })).code).toBe(0);
  expect(safe.asked.map(([method]) => method)).toEqual(["kernel.status", "shutdown", "kernel.status"]);
  expect(safe).toMatchObject({
    reached: ["find", "find", "gone", "forgetDeaths", "ensure"],
    openConnections: 0,
  });
  const { daemon } = await crux("daemon start --normal", { daemon: running() });
  expect(daemon.reached).toEqual(["find", "ensure"]);
});

test("daemon status tells of safe mode", async () => {
  const daemon = new FakeDaemon({ "kernel.status": () => ({ ...status(), safe_mode: true }) });
  expect((await crux("daemon status", { daemon })).out).toMatch(/ \| safe mode\n$/);
});
