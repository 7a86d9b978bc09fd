import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const daemon = () =>
  new FakeDaemon({ "process.renice": (params) => params as { pid: number; weight: number } });

test("renice changes a weight", async () => {
  const asked = daemon();
  expect(await crux("renice 3 30", { daemon: asked })).toMatchObject({
    out: "[kernel] PID 3: weight 30\n",
    err: "",
    code: 0,
  });
  expect((await crux("renice 3 30 --quiet", { daemon: daemon() })).out).toBe("");
  expect(JSON.parse((await crux("renice 3 30 --json", { daemon: daemon() })).out).data).toEqual({
    pid: 3,
    weight: 30,
  });
});

test.each(["renice", "renice 3", "renice 3 0", "renice 3 101", "renice 3 x", "renice x 3", "renice 3 4 5"])(
  "%s is refused before a daemon is asked",
  async (line) => {
    const asked = daemon();
    expect((await crux(line, { daemon: asked })).code).toBe(1);
    expect(asked.openConnections).toBe(0);
  },
);
