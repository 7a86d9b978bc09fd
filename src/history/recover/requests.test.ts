/** What a request has made, found again; and followed as if it had just been made. */
import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import { asProcUuid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Program } from "../../abi/program.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { bytes, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";

const request: RequestMark = { id: "i".repeat(40), digest: "d" };
let generation = 0;

/** The daemon after this one, on the same journal; its programs work until they are told to end. */
async function later(t: TestKernel): Promise<TestKernel> {
  await t.journal.sync();
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  const program: Program = ({ ending }) =>
    new Promise<typeof EXIT.unexpected>((resolve) =>
      ending.addEventListener("abort", () => resolve(EXIT.unexpected)),
    );
  const next = testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), program }, t.journal);
  await next.kernel.recover();
  await settle(8);
  return next;
}

async function first(events: Subscription<ProcessEvent>, count: number): Promise<ProcessEvent[]> {
  const seen: ProcessEvent[] = [];
  for await (const event of events) if (seen.push(event) === count) break;
  events.close();
  return seen;
}

const activityOf = ({ kernel }: TestKernel, pid: Pid) => kernel.view().find(PID_KERNEL, pid)?.activity;

describe("requests.find()", () => {
  test("knows what a request has made for a day, also under a later daemon", async () => {
    const t = testKernel();
    t.journal.now = t.clock.now();
    expect(await t.kernel.requests.find(request.id)).toBeUndefined();
    const { pid } = await t.start({ request });
    expect(await t.kernel.requests.find(request.id)).toMatchObject({ digest: "d", pid });
    const next = await later(t);
    const at = t.proc(pid).seed.createdAt.getTime();
    expect(await next.kernel.requests.find(request.id)).toEqual({ digest: "d", pid, at });
    await next.clock.advance(LIMITS.requestKeptMs + 1);
    expect(await next.kernel.requests.find(request.id)).toBeUndefined();
  });

  test("knows it also when the wall clock was set ahead meanwhile, as at the first contact with a time server", async () => {
    const t = testKernel();
    t.journal.now = t.clock.now();
    const { pid } = await t.start({ request });
    t.clock.jump(365 * 24 * 3_600_000);
    expect(await t.kernel.requests.find(request.id)).toMatchObject({ digest: "d", pid });
  });

  test("so it is with what it has published", async () => {
    const t = testKernel();
    const seq = await t.kernel.events.publish({ event: "test.one", data: {}, request });
    t.clock.jump(365 * 24 * 3_600_000);
    expect(await t.kernel.events.requested(request.id)).toMatchObject({ event: { seq } });
    await t.clock.advance(LIMITS.requestKeptMs + 1);
    expect(await t.kernel.events.requested(request.id)).toBeUndefined();
  });

  test("a fork of what it made is another process", async () => {
    const t = testKernel();
    t.journal.now = t.clock.now();
    const { pid, sys, start } = await t.start({ request });
    await sys.appendMessage(start.ctxId, "assistant", "said");
    const fork = await t.kernel.forks.fork(pid, {});
    expect(fork.pid).not.toBe(pid);
    expect(await t.kernel.requests.find(request.id)).toMatchObject({ digest: "d", pid });
  });
});

describe("a message of a request", () => {
  test("is found by it, with its number; its reader sees nothing of that", async () => {
    const t = testKernel();
    t.journal.now = t.clock.now();
    const { pid } = await t.start();
    const { seq } = await t.init.send(pid, bytes("hello"), undefined, { request });
    const made = { digest: "d", pid, message: seq };
    expect(await t.kernel.requests.find(request.id)).toMatchObject(made);
    const next = await later(t);
    expect(await next.kernel.requests.find(request.id)).toMatchObject(made);
    for (const { kernel } of [t, next]) {
      const read = kernel.table.get(pid)?.mailbox?.tryTake();
      expect([read?.seq, Object.keys(read ?? {})]).toEqual([seq, expect.not.arrayContaining(["request"])]);
    }
  });
});

describe("forks.again()", () => {
  test("tells of the fork as it was told, and lets it go on if that was asked for", async () => {
    const t = testKernel();
    t.journal.now = t.clock.now();
    const { pid, sys, start } = await t.start();
    await sys.appendMessage(start.ctxId, "assistant", "said");
    const made = await t.kernel.forks.fork(pid, { request, message: "go on" });
    expect(await t.kernel.requests.find(request.id)).toMatchObject({ digest: "d", pid: made.pid });
    expect(await t.kernel.forks.again(made.pid, {})).toEqual(made);
    const next = await later(t);
    expect(await next.kernel.forks.again(made.pid, { wake: true, env: {} })).toEqual(made);
    expect(next.kernel.table.get(made.pid)?.isPaused).toBe(false);
    expect(next.kernel.table.get(made.pid)?.isLive).toBe(true);
  });
});

describe("requests.rejoin()", () => {
  test("follows one that runs from its spawn event on, to its end", async () => {
    const t = testKernel();
    const { pid, end } = await t.start({ request });
    const events = await t.kernel.requests.rejoin(pid, {});
    end();
    const seen = await first(events, 2);
    expect(seen).toMatchObject([
      { event: "spawn", pid },
      { event: "complete", pid, exit: { code: 0 } },
    ]);
  });

  test("what waits for whoever asked for it goes on; what a person paused does not", async () => {
    const t = testKernel();
    const asked = await t.start({ request, interactive: true });
    const held = await t.start({ interactive: true });
    await t.init.kill(held.pid, 4);
    const next = await later(t);
    expect([activityOf(next, asked.pid), activityOf(next, held.pid)]).toEqual(["paused", "paused"]);
    for (const { pid } of [asked, held]) (await next.kernel.requests.rejoin(pid, { env: {} })).close();
    expect(activityOf(next, asked.pid)).not.toBe("paused");
    expect(activityOf(next, held.pid)).toBe("paused");
  });

  test("a session that rests comes back", async () => {
    const t = testKernel();
    const { pid } = await t.start({ request, session: true });
    const next = await later(t);
    expect(next.kernel.table.size).toBe(0);
    const [spawned] = await first(await next.kernel.requests.rejoin(pid, {}), 1);
    expect(spawned).toMatchObject({ event: "spawn", pid });
    expect(next.kernel.table.get(pid)?.isLive).toBe(true);
  });

  test("one that is gone tells its end; it is not made to go on", async () => {
    const t = testKernel();
    const { pid, end } = await t.start({ request });
    end();
    await t.init.wait(pid);
    const seen = await first(await t.kernel.requests.rejoin(pid, {}), 9);
    expect(seen).toMatchObject([{ event: "complete", pid, exit: { code: 0 }, result: expect.any(String) }]);
    expect(t.kernel.table.get(pid)).toBeUndefined();
  });

  test("CONFLICT for one that did not come back, as in safe mode", async () => {
    const t = testKernel();
    const { pid } = await t.start({ request });
    await t.journal.sync();
    const next = testKernel({}, t.journal);
    const fact = { kind: "stopped", pid };
    await expect(next.kernel.requests.rejoin(pid, {})).rejects.toMatchObject({ code: "CONFLICT", fact });
  });
});
