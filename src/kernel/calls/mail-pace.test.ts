import { expect, test } from "vitest";
import { asPid, type Pid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { guardedBench } from "../testing/guarded.ts";
import { bytes, type Started, text } from "../testing/test-kernel.ts";

/** A lead with two agents below it; each writes by a tool. */
async function desks() {
  const { t, tool, sys, pid } = await guardedBench();
  tool.script.effects = [];
  tool.script.act = async (data, hands) => {
    await hands.sys.send(asPid(Number(text(data))), bytes("hi"));
  };
  await sys.joinGroup(pid, "crew");
  const [a, b] = [await t.start({ by: sys, group: "crew" }), await t.start({ by: sys, group: "crew" })];
  const lead = { pid, sys, proc: t.proc(pid) };
  type One = Pick<Started, "pid" | "sys" | "proc">;
  const write = async (from: One, to: Pid): Promise<void> => {
    const fd = await from.sys.open("/bin/edit", 2);
    try {
      await from.sys.write(fd, bytes(String(to)));
    } finally {
      await from.sys.close(fd);
      // its result is in the context
      from.proc.used.calledTool();
    }
  };
  const exchange = async (one: One, other: One, count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await (n % 2 === 0 ? write(one, other.pid) : write(other, one.pid));
  };
  return { t, a, b, lead, write, exchange };
}

test("an agent sends so many messages to another within a minute, whatever it sends to others", async () => {
  const { t, a, b, lead, write } = await desks();
  for (let n = 0; n < LIMITS.mailPerMinute; n++) {
    await write(a, lead.pid);
    a.proc.used.calledTool();
  }
  await expect(write(a, lead.pid)).rejects.toMatchObject({
    ...{ code: "UNAVAILABLE", message: expect.stringContaining("120 messages to process") },
  });
  await write(a, b.pid);
  await t.clock.advance(60_001);
  await write(a, lead.pid);
});

test("two agents that only write to each other are paused, and their lead is told; work of either starts the count again", async () => {
  const { t, a, b, lead, write, exchange } = await desks();
  await exchange(a, b, LIMITS.mailInRow);
  b.proc.used.calledTool();
  await t.clock.advance(60_001);
  await exchange(a, b, LIMITS.mailInRow);
  expect([a.proc.isPaused, b.proc.isPaused]).toEqual([false, false]);
  const told = lead.sys.recv();
  await expect(write(a, b.pid)).rejects.toMatchObject({
    ...{ code: "UNAVAILABLE", message: expect.stringContaining("50 messages to each other") },
  });
  expect([a.proc.isPaused, b.proc.isPaused, lead.proc.isPaused]).toEqual([true, true, false]);
  expect(text((await told).data)).toMatch(/^processes \d+ and \d+ wrote 50 messages .* both are paused\./);
});

test("what the user says to either counts as work, too", async () => {
  const { t, a, b, exchange } = await desks();
  await exchange(a, b, LIMITS.mailInRow);
  await t.init.send(b.pid, bytes("and then?"));
  await t.clock.advance(60_001);
  await exchange(a, b, LIMITS.mailInRow);
  expect([a.proc.isPaused, b.proc.isPaused]).toEqual([false, false]);
});
