import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const session = {
  pid: 7,
  uuid: "u7",
  title: "the printer",
  name: "",
  cwd: "/work",
  state: "ended" as const,
  created_at: "2026-01-01T00:00:00.000Z",
  last_at: "2026-01-01T00:00:00.000Z",
  tokens_used: 1,
  turns: 1,
  kept: false,
};
const daemon = (more: object = {}) =>
  new FakeDaemon({ "session.list": () => ({ sessions: [session], ...more }) });

test("sessions --all says that there are older ones than it shows, beside the table", async () => {
  const cut = await crux("sessions --all", { daemon: daemon({ more: true }) });
  expect(cut.err).toBe(
    "[sessions] of those that have ended the newest 1,000 are shown; crux -r <pid> opens an older one\n",
  );
  const whole = await crux("sessions --all", { daemon: daemon() });
  expect([whole.err, whole.out]).toEqual(["", cut.out]);
  const json = await crux("sessions --all --json", { daemon: daemon({ more: true }) });
  expect(JSON.parse(json.out).data).toMatchObject({ more: true, sessions: [{ pid: 7 }] });
});

test("at a terminal a line ends at its edge; elsewhere nothing is cut", async () => {
  const wide = new FakeDaemon({
    "session.list": () => ({
      sessions: [{ ...session, title: "t".repeat(60), cwd: `/${"deep/".repeat(12)}` }],
    }),
  });
  const piped = await crux("sessions --all", { daemon: wide });
  expect(Math.max(...piped.out.split("\n").map((line) => line.length))).toBeGreaterThan(80);
  const shown = await crux("sessions --all", { daemon: wide, isTerminal: true });
  const lines = shown.out.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
  expect(lines[2]).toMatch(/…$/);
});
