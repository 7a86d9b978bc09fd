import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const daemon = () => new FakeDaemon({ "process.background": () => ({ handed_over: [4, 5] }) });

test("bg names the agents that go on in the background", async () => {
  expect(await crux("bg 3", { daemon: daemon() })).toMatchObject({
    out: "[kernel] PID 4: in the background\n[kernel] PID 5: in the background\n",
    err: "",
    code: 0,
  });
  expect((await crux("bg 3 --quiet", { daemon: daemon() })).out).toBe("4\n5\n");
  const { out } = await crux("bg 3 --json", { daemon: daemon() });
  expect(JSON.parse(out).data).toEqual({ handed_over: [4, 5] });
});

test.each(["bg", "bg x", "bg 3 4"])("%s is refused before a daemon is asked", async (line) => {
  const asked = daemon();
  expect((await crux(line, { daemon: asked })).code).toBe(1);
  expect(asked.openConnections).toBe(0);
});
