import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const resuming = (state: string) => new FakeDaemon({ "process.resume": () => ({ pid: 7, state }) });

const SCREENS = {
  default: "[kernel] PID 7: resumed\n",
  verbose: "[kernel] PID 7: resumed\n",
  quiet: "",
  json: '{"ok": true, "data": {"pid": 7, "state": "running"}}\n',
};

test.each(MODE_FLAGS)("resume %s is %s", async (flags, mode) => {
  const { out, err, code, daemon } = await crux(`resume 7 ${flags}`, { daemon: resuming("running") });
  expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
  expect(daemon.openConnections).toBe(0);
});

test.each([
  ["waiting", "waits for a message"],
  ["blocked", "waits for an answer to its question"],
  ["paused", "is paused"],
])("resume says of one that is %s that it %s", async (state, words) => {
  expect((await crux("resume 7", { daemon: resuming(state) })).out).toBe(`[kernel] PID 7: ${words}\n`);
});

test("resume brings the environment of this terminal, without our place at the socket", async () => {
  const env = { OPENAI_API_KEY: "k", CRUX_IPC_SOCKET: "/s", KAIRO_IPC_SOCKET: "/s" };
  const { daemon } = await crux("resume 7", { daemon: resuming("running"), env });
  expect(daemon.asked).toEqual([["process.resume", { pid: 7, env: { OPENAI_API_KEY: "k" } }]]);
});

test("resume of a pid that is not there says why, and closes its connection", async () => {
  const daemon = new FakeDaemon({
    "process.resume": () => {
      throw new WireFault({ code: "NOT_FOUND", message: "no process 9: there was none", hint: "crux ps" });
    },
  });
  expect(await crux("resume 9", { daemon })).toMatchObject({
    err: "✗ [NOT_FOUND] no process 9: there was none\n  → hint: crux ps\n",
    code: 1,
  });
  expect(daemon.openConnections).toBe(0);
});

test.each(["resume", "resume x", "resume 1 2"])("%s is INVALID, and no daemon is started", async (line) => {
  const daemon = new FakeDaemon();
  expect(await crux(line, { daemon })).toMatchObject({ out: "", code: 1 });
  expect(daemon.reached).toEqual([]);
});
