import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const SCREENS = {
  default: "[kernel] PID 3: message sent (12 bytes)\n",
  verbose: "[kernel] PID 3: message sent (12 bytes)\n",
  quiet: "",
  json: '{"ok": true, "data": {"pid": 3, "size": 12}}\n',
};

test.each(MODE_FLAGS)("send %s is %s", async (flags, mode) => {
  const { out, err, code, daemon } = await crux(`send 3 stop the 分 ${flags}`);
  expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
  expect(daemon.asked).toEqual([["mail.send", { pid: 3, text: "stop the 分" }]]);
  expect(daemon.openConnections).toBe(0);
});

test("send takes words that look like flags behind --, and stdin where there are none", async () => {
  expect((await crux("send 3 -- -v is a flag")).daemon.asked[0]?.[1]).toEqual({
    pid: 3,
    text: "-v is a flag",
  });
  expect((await crux("send 3", { stdin: "line one\nline two\n" })).daemon.asked[0]?.[1]).toEqual({
    pid: 3,
    text: "line one\nline two",
  });
});

test("send to nobody is the daemon's error, with a hint", async () => {
  const daemon = new FakeDaemon({
    "mail.send": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "process not found: 9",
        syscall: "Send",
        pid: 0,
        fact: { kind: "no_process", pid: 9 },
      });
    },
  });
  expect((await crux("send 9 hello", { daemon })).err).toBe(
    "✗ [NOT_FOUND] PID 0 Send: process not found: 9\n  → hint: crux ps lists the processes\n",
  );
});

test.each([
  ["send", "no pid", undefined],
  ["send x hello", "no pid", undefined],
  ["send 3", "no words", undefined],
  ["send 3", "blank", " \n"],
  ["send 3", "too long", "x".repeat(256 * 1024 + 1)],
])("%s (%s) is INVALID and reaches no daemon", async (line, _why, stdin) => {
  const { err, out, code, daemon } = await crux(line, stdin === undefined ? {} : { stdin });
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

test("send takes 256 KiB, and not one byte more", async () => {
  const text = "x".repeat(256 * 1024);
  expect((await crux(["send", "3", text])).code).toBe(0);
  expect((await crux(["send", "3", `${text}y`])).err).toMatch(/^✗ \[INVALID\] the message has 262145 bytes/);
});
