/** crux mode and crux grants. */
import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const modes = () => new FakeDaemon({ "process.mode": () => ({ mode: "plan", ceiling: "auto" }) });

const MODE_SCREENS = {
  default: "[kernel] PID 3: plan mode (may ask for up to auto)\n",
  verbose: "[kernel] PID 3: plan mode (may ask for up to auto)\n",
  quiet: "plan\n",
  json: '{"ok": true, "data": {"pid": 3, "mode": "plan", "ceiling": "auto"}}\n',
};

test.each(MODE_FLAGS)("mode %s is %s", async (flags, mode) => {
  const { out, err, code } = await crux(`mode 3 ${flags}`, { daemon: modes() });
  expect({ out, err, code }).toEqual({ out: MODE_SCREENS[mode], err: "", code: 0 });
});

test.each([
  ["mode 3", { pid: 3 }],
  ["mode 3 plan", { pid: 3, mode: "plan" }],
  ["mode 3 acceptEdits", { pid: 3, mode: "accept_edits" }],
])("%s asks for %j", async (line, payload) => {
  const { daemon } = await crux(line, { daemon: modes() });
  expect(daemon.asked).toEqual([["process.mode", payload]]);
});

test.each([
  ["mode", "pid"],
  ["mode x", "pid"],
  ["mode 3 yolo", "unknown permission mode: yolo"],
  ["mode 3 plan auto", "one mode at a time"],
  ["grants rm", "which grant?"],
  ["grants 3 4", "crux grants lists"],
  ["grants --kill", "crux grants lists"],
])("%s fails, and says what is wrong: %s", async (line, words) => {
  const { err, code } = await crux(line, { daemon: modes() });
  expect([code, err]).toEqual([1, expect.stringContaining(words)]);
});

const GRANT = {
  id: "g_1",
  session: 2,
  at: "2026-01-01T00:00:00.000Z",
  by: { principal: "user", client: "", uid: 1000 },
  behavior: "allow",
  rule: "bash(make\u202e:*)",
  scope: "session",
  used: 0,
} as const;
const COUNTED = { ...GRANT, id: "g_2", scope: "subtree", pid: 4, uses: 3, used: 1 } as const;
const grants = (...found: object[]) =>
  new FakeDaemon({ "grant.list": () => ({ grants: found as never }), "grant.remove": () => undefined });

test("grants are one line each: rule, whom it reaches, who, when, uses", async () => {
  const { out } = await crux("grants", { daemon: grants(GRANT, COUNTED) });
  const [first = "", second = ""] = out.split("\n");
  expect(first).toMatch(/^g_1 {2}allow bash\(make.*:\*\), session 2, by user at 2026-01-01T00:00:00.000Z$/);
  expect(first).not.toContain("\u202e");
  expect(second).toContain("subtree 4, by user at 2026-01-01T00:00:00.000Z, used 1 of 3");
});

test("grants of one process, quiet and as JSON; none is said on a screen", async () => {
  const { out, daemon } = await crux("grants 4 -q", { daemon: grants(GRANT, COUNTED) });
  expect([out, daemon.asked]).toEqual(["g_1\ng_2\n", [["grant.list", { pid: 4 }]]]);
  expect((await crux("grants --json", { daemon: grants(GRANT) })).out).toContain('"id": "g_1", "session": 2');
  expect((await crux("grants", { daemon: grants() })).out).toBe("No grants.\n");
});

test.each([
  ["grants rm g_1", { id: "g_1" }],
  ["grants rm g_1 --kill --pid 4", { id: "g_1", pid: 4, kill: true }],
])("%s takes it back", async (line, payload) => {
  const { out, daemon } = await crux(line, { daemon: grants() });
  expect([out, daemon.asked]).toEqual(["[kernel] grant g_1 taken back\n", [["grant.remove", payload]]]);
});
