import { describe, expect, test } from "vitest";
import { bytes, NOTHING_LEFT, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function started() {
  const t = testKernel();
  return { t, ...(await t.start()) };
}

describe("recv()", () => {
  test("waits for a message, as long as it takes, and shows it", async () => {
    const { t, sys, pid, proc, context } = await started();
    context.setActivity("tool");
    const message = sys.recv();
    await t.clock.advance(1_000_000);
    expect(proc.info(0).activity).toBe("waiting");
    await t.init.send(pid, bytes("x"));
    expect((await message).seq).toBe(1);
    expect(proc.info(0).activity).toBe("tool");
  });

  test("does not show what it does not do: a message that is there is taken at once", async () => {
    const { t, sys, pid, proc, context } = await started();
    context.setActivity("tool");
    await t.init.send(pid, bytes("x"));
    const message = sys.recv();
    expect(proc.info(0).activity).toBe("tool");
    await message;
  });

  test("several are served in the order in which they asked", async () => {
    const { t, sys, pid } = await started();
    const all = Promise.all([sys.recv(), sys.recv({ timeoutMs: 50 }), sys.recv()]);
    await settle();
    for (const word of ["a", "b", "c"]) await t.init.send(pid, bytes(word));
    expect((await all).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(t.clock.pending).toBe(0);
  });

  test("timeoutMs 0 takes what is there, or is TIMEOUT at once", async () => {
    const { t, sys, pid } = await started();
    await expect(sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "no message is there",
    });
    await t.init.send(pid, bytes("x"));
    expect((await sys.recv({ timeoutMs: 0 })).seq).toBe(1);
    expect(t.clock.mono()).toBe(0);
  });

  test("is TIMEOUT when its time is over; a message that comes later is for the next", async () => {
    const { t, sys, pid, proc, context } = await started();
    context.setActivity("thinking");
    const first = expect(sys.recv({ timeoutMs: 100 })).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "no message within 100 ms",
    });
    await t.clock.advance(99);
    expect(proc.info(0).activity).toBe("waiting");
    await t.clock.advance(1);
    await first;
    expect(proc.info(0).activity).toBe("thinking");
    await t.init.send(pid, bytes("x"));
    expect((await sys.recv()).seq).toBe(1);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    "timeoutMs %d is INVALID",
    async (timeoutMs) => {
      const { sys } = await started();
      await expect(sys.recv({ timeoutMs })).rejects.toMatchObject({ code: "INVALID" });
    },
  );

  test("that is given up is CANCELLED and takes nothing", async () => {
    const { t, sys, pid } = await started();
    const stop = new AbortController();
    const given = expect(sys.recv({ timeoutMs: 100 }, stop.signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await settle();
    stop.abort();
    await given;
    expect(t.clock.pending).toBe(0);
    await t.init.send(pid, bytes("x"));
    expect((await sys.recv()).seq).toBe(1);
    await expect(sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test.each(["before", "after"])(
    "given up in the turn in which one arrives, %s it: not lost",
    async (when) => {
      const { t, sys, pid, proc } = await started();
      const stop = new AbortController();
      const first = sys.recv({}, stop.signal).then(
        ({ seq }) => seq,
        (error: { code: string }) => error.code,
      );
      await settle();
      const place = proc.mailbox?.claim(1);
      const message = { seq: 9, from: pid, to: pid, data: bytes("x"), sentAt: 0 };
      if (when === "before") stop.abort();
      place?.fill(message);
      stop.abort();
      expect(await first).toBe(when === "before" ? "CANCELLED" : 9);
      if (when === "before") expect((await sys.recv({ timeoutMs: 0 })).seq).toBe(9);
      await t.init.send(pid, bytes("y"));
      await sys.recv();
      expect(t.journal.bodies("mail.done")).toEqual([{ seq: 9 }]);
    },
  );

  test("is CANCELLED when its process ends, and leaves neither timer nor listener", async () => {
    const { t, sys, pid } = await started();
    const waiting = [sys.recv(), sys.recv({ timeoutMs: 1_000 })].map((each) =>
      expect(each).rejects.toMatchObject({ code: "CANCELLED" }),
    );
    await settle();
    await t.init.kill(pid, 1);
    await Promise.all(waiting);
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that it was taken is journalled in one with what next enters the context", async () => {
    const { t, sys, pid, proc } = await started();
    await t.init.send(pid, bytes("x"));
    await sys.recv();
    await t.journal.append([]);
    expect(t.journal.bodies("mail.done")).toEqual([]);
    const noted: string[][] = [];
    const note = t.journal.note.bind(t.journal);
    t.journal.note = (drafts) => {
      noted.push(drafts.map(({ kind }) => kind));
      note(drafts);
    };
    await sys.appendMessage(proc.ctxId, "user", "x");
    expect(noted).toContainEqual(["ctx.record", "mail.done"]);
    expect(t.journal.bodies("mail.done")).toEqual([{ seq: 1 }]);
  });

  test("that it was taken is journalled at the next one, where nothing entered the context", async () => {
    const { t, sys, pid } = await started();
    for (const text of ["x", "y"]) await t.init.send(pid, bytes(text));
    await sys.recv();
    await sys.recv();
    expect(t.journal.bodies("mail.done")).toEqual([{ seq: 1 }]);
  });
});
