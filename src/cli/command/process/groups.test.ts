import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const GROUPS = [
  { id: 1, name: "authors", pids: [4, 5, 6] },
  { id: 3, name: "", pids: [7] },
];
const daemon = (groups = GROUPS) => new FakeDaemon({ "group.list": () => ({ groups }) });

const SCREENS = {
  default: "authors: 4 5 6\n3: 7\n",
  verbose: "authors (group 1): 4 5 6\n3 (group 3): 7\n",
  quiet: "authors\n3\n",
  json: '{"ok": true, "data": {"groups": [{"id": 1, "name": "authors", "pids": [4, 5, 6]}, {"id": 3, "name": "", "pids": [7]}]}}\n',
};

test.each(MODE_FLAGS)("groups %s is %s", async (flags, mode) => {
  expect(await crux(`groups ${flags}`, { daemon: daemon() })).toMatchObject({
    out: SCREENS[mode],
    err: "",
    code: 0,
  });
});

test("groups of none", async () => {
  expect((await crux("groups", { daemon: daemon([]) })).out).toBe("No groups.\n");
  expect((await crux("groups -q", { daemon: daemon([]) })).out).toBe("");
  expect((await crux("groups --json", { daemon: daemon([]) })).out).toContain('{"groups": []}');
});

const reaching = (reached: number) => new FakeDaemon({ "group.signal": () => ({ reached }) });

test("signal is the line of the manual", async () => {
  const { out, daemon, code } = await crux("signal authors SIGTERM", { daemon: reaching(3) });
  expect({ out, code }).toEqual({
    out: "[kernel] group authors: signal sent (SIGTERM) to 3 processes\n",
    code: 0,
  });
  expect(daemon.asked).toEqual([["group.signal", { group: "authors", signal: 1 }]]);
});

test("signal takes a group by its number, and signals as kill does", async () => {
  for (const word of ["pause", "4", "SIGPAUSE"]) {
    const { daemon } = await crux(`signal 3 ${word}`, { daemon: reaching(1) });
    expect(daemon.asked).toEqual([["group.signal", { group: 3, signal: 4 }]]);
  }
  expect((await crux("signal authors int --json", { daemon: reaching(2) })).out).toBe(
    '{"ok": true, "data": {"group": "authors", "signal": "SIGINT", "reached": 2}}\n',
  );
  expect((await crux("-q signal authors int", { daemon: reaching(2) })).out).toBe("");
});

test("signal to a group that is not there is the daemon's error", async () => {
  const none = new FakeDaemon({
    "group.signal": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "group not found: writers",
        syscall: "SignalGroup",
        fact: { kind: "no_group" },
      });
    },
  });
  expect(await crux("signal writers term", { daemon: none })).toMatchObject({
    err: "✗ [NOT_FOUND] SignalGroup: group not found: writers\n  → hint: crux groups lists the groups\n",
    code: 1,
  });
});

test.each([
  "groups 1",
  "signal",
  "signal authors",
  "signal authors hup",
  "signal authors 6",
  "signal a term b",
])("%s is INVALID and reaches no daemon", async (line) => {
  const { err, out, code, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});
