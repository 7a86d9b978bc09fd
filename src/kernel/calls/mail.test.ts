import { describe, expect, test } from "vitest";
import { printed } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { chosenModelFacet } from "../process/chosen-model.ts";
import {
  bytes,
  NOTHING_LEFT,
  type Started,
  type TestKernel,
  testKernel,
  text,
} from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

/** A parent and its child. */
async function pair(): Promise<{ t: TestKernel; parent: Started; child: Started }> {
  const t = testKernel();
  const parent = await t.start();
  return { t, parent, child: await t.start({ by: parent.sys }) };
}

describe("send()", () => {
  test("reaches a descendant and an ancestor, with who sent it and when", async () => {
    const { t, parent, child } = await pair();
    await t.clock.advance(5);
    await parent.sys.send(child.pid, bytes("go"));
    await child.sys.send(parent.pid, bytes("gone"));
    const { data, ...rest } = await child.sys.recv();
    expect(rest).toEqual({ seq: 1, from: parent.pid, to: child.pid, sentAt: t.clock.now() });
    expect(text(data)).toBe("go");
    expect(await parent.sys.recv()).toMatchObject({ seq: 2, from: child.pid, data: bytes("gone") });
  });

  test("reaches the process itself, and anybody from pid 0", async () => {
    const { t, parent, child } = await pair();
    await child.sys.send(child.pid, bytes("note"));
    await t.init.send(child.pid, bytes("from a person"));
    expect((await child.sys.recv()).from).toBe(child.pid);
    expect((await child.sys.recv()).from).toBe(0);
    await expect(parent.sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("is durable when it resolves, in the history of who receives it", async () => {
    const { t, parent, child } = await pair();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    let sent = false;
    const sending = parent.sys.send(child.pid, bytes("hi")).then(() => {
      sent = true;
    });
    await settle();
    expect(sent).toBe(false);
    await expect(child.sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
    gate.resolve();
    await sending;
    const record = t.journal.records.find(({ kind }) => kind === "mail.put");
    expect(record).toMatchObject({
      proc: child.proc.seed.uuid,
      pid: child.pid,
      body: { seq: 1, from: parent.pid, to: child.pid, data: "aGk=", sentAt: t.clock.now() },
    });
  });

  test("with a position of its program is recorded with it, or neither is", async () => {
    const { t, parent, child } = await pair();
    const say = (sys: typeof child.sys, state: unknown) =>
      sys.send(parent.pid, bytes("idle"), undefined, { withCheckpoint: state });
    t.journal.refused.add("mail.put");
    await expect(say(child.sys, 1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await t.journal.sync();
    expect(t.journal.kinds()).not.toContain("process.checkpoint");
    t.journal.refused.clear();
    const batches: (readonly string[])[] = [];
    const append = t.journal.append.bind(t.journal);
    t.journal.append = (drafts, ...more) => {
      batches.push(drafts.map(({ kind }) => kind));
      return append(drafts, ...more);
    };
    await say(child.sys, 2);
    expect(batches).toEqual([["process.checkpoint", "mail.put"]]);
    expect(t.journal.bodies("process.checkpoint")).toEqual([{ state: 2 }]);
    expect(text((await parent.sys.recv()).data)).toBe("idle");
  });

  test("to a stranger is PERMISSION, a sibling too; to who is not there, or has ended out of sight, NOT_FOUND", async () => {
    const { t, parent, child } = await pair();
    const [stranger, ended] = [await t.start(), await t.start()];
    const sibling = await t.start({ by: parent.sys });
    ended.end();
    await ended.proc.done.promise;
    for (const { pid } of [stranger, sibling])
      await expect(child.sys.send(pid, bytes("x"))).rejects.toMatchObject({
        code: "PERMISSION",
        message: expect.stringContaining(`process ${pid} is not above or below`),
      });
    for (const pid of [ended.pid, asPid(99), asPid(0)])
      await expect(child.sys.send(pid, bytes("x"))).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: `process not found: ${pid}`,
      });
    expect(t.journal.kinds()).not.toContain("mail.put");
  });

  test("to a member of its group arrives; of another group it does not", async () => {
    const t = testKernel();
    const [a, b, c] = [await t.start({ group: "team" }), await t.start({ group: "team" }), await t.start()];
    await a.sys.send(b.pid, bytes("mate"));
    expect(text((await b.sys.recv()).data)).toBe("mate");
    await expect(a.sys.send(c.pid, bytes("x"))).rejects.toMatchObject({ code: "PERMISSION" });
  });

  test("what waits for a child never reaches the one above, not even when the child ends and has not read it", async () => {
    const { t, parent, child } = await pair();
    const below = await t.start({ by: child.sys, child: { call: "c", title: "dig", isBackground: true } });
    await t.init.send(child.pid, bytes("typed for the child"));
    await below.sys.send(child.pid, bytes("said to the child"));
    below.end();
    await below.proc.done.promise;
    await settle();
    const put = t.journal.records.filter(({ kind }) => kind === "mail.put");
    expect(put.map(({ pid }) => pid)).toEqual([child.pid, child.pid, child.pid]);
    expect([child.sys.hasMail(), parent.sys.hasMail()]).toEqual([true, false]);
    child.end();
    await child.proc.done.promise;
    await settle();
    expect(parent.sys.hasMail()).toBe(false);
    await expect(parent.sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("to a zombie is NOT_FOUND, in these words", async () => {
    const { t, child } = await pair();
    child.end();
    await child.proc.done.promise;
    const error = await t.init.send(child.pid, bytes("x")).catch((e: unknown) => e);
    expect(printed(error)).toBe("[NOT_FOUND] PID 0 Send: process has ended: 2");
    expect(child.proc.mailbox).toBeNull();
  });

  test("to one that ends while the message is journalled is NOT_FOUND", async () => {
    const { t, child } = await pair();
    const gate = Promise.withResolvers<void>();
    const { append } = t.journal;
    t.journal.append = async (drafts) => {
      if (drafts.some(({ kind }) => kind === "mail.put")) await gate.promise;
      return append.call(t.journal, drafts);
    };
    const sending = expect(t.init.send(child.pid, bytes("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    child.end();
    await child.proc.done.promise;
    gate.resolve();
    await sending;
    expect(child.proc.mailbox?.size).toBe(0);
  });

  test("1,000 that are sent at once are received in their order", async () => {
    const { t, child } = await pair();
    const all = Array.from({ length: 1_000 }, (_, n) => `${n}`);
    await Promise.all(all.map((each) => t.init.send(child.pid, bytes(each))));
    const received: string[] = [];
    while (received.length < all.length) received.push(text((await child.sys.recv()).data));
    expect(received).toEqual(all);
  });

  test("has the pictures of the user, a line for each in its text, and room for them", async () => {
    const { t, parent, child } = await pair();
    const media = [{ type: "image", media_type: "image/png", data: "AAAA" }] as const;
    await t.init.send(child.pid, bytes("look"), undefined, { media });
    await t.init.send(child.pid, bytes(""), undefined, { media });
    expect(t.journal.bodies("mail.put").map((body) => body.media)).toEqual([media, media]);
    expect(child.proc.mailbox?.bytes).toBe("look\n[image 1: png, 1 KB]".length * 2 - "look\n".length + 8);
    const [first, second] = [await child.sys.recv(), await child.sys.recv()];
    expect([text(first.data), first.media]).toEqual(["look\n[image 1: png, 1 KB]", media]);
    expect(text(second.data)).toBe("[image 1: png, 1 KB]");
    const refused = async (sys: typeof t.init, data: string) =>
      sys
        .send(child.pid, bytes("x"), undefined, { media: [{ ...media[0], data }] })
        .catch(({ code, message }) => [code, message]);
    expect(await refused(t.init, "no base64")).toEqual([
      "INVALID",
      "the data of a picture is not base64, or empty",
    ]);
    const blind = await t.start({ model: "blind" });
    const unseen = t.init.send(blind.pid, bytes("x"), undefined, { media });
    await expect(unseen).rejects.toMatchObject({
      code: "INVALID",
      message: "blind takes no pictures; crux model list shows which do",
    });
    blind.proc.facts.change(chosenModelFacet, "process.model", { device: "/dev/llm/fake", model: "seeing" });
    await t.init.send(blind.pid, bytes("x"), undefined, { media });
    expect(await refused(parent.sys, "AAAA")).toEqual([
      "PERMISSION",
      "only a message of the user has pictures",
    ]);
    expect(child.proc.mailbox?.size).toBe(0);
  });

  test("of more than 256 KiB is INVALID; of 256 KiB it arrives whole", async () => {
    const { parent, child } = await pair();
    const largest = new Uint8Array(LIMITS.mailBytes).fill(7);
    await parent.sys.send(child.pid, largest);
    expect((await child.sys.recv()).data).toEqual(largest);
    await expect(parent.sys.send(child.pid, new Uint8Array(LIMITS.mailBytes + 1))).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  test("the 1,025th is UNAVAILABLE and stored nowhere; a recv makes room", async () => {
    const { t, parent, child } = await pair();
    const sent = await Promise.allSettled(
      Array.from({ length: LIMITS.mailboxMessages + 3 }, () => parent.sys.send(child.pid, bytes("x"))),
    );
    const refused = sent.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
    expect(refused).toEqual(["UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
    expect(t.journal.bodies("mail.put")).toHaveLength(1_024);
    await child.sys.recv();
    await parent.sys.send(child.pid, bytes("x"));
    await expect(parent.sys.send(child.pid, bytes("x"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("that the journal refuses gives its room back and is not delivered", async () => {
    const { t, parent, child } = await pair();
    t.journal.refused.add("mail.put");
    await expect(parent.sys.send(child.pid, bytes("x"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([child.proc.mailbox?.size, child.proc.mailbox?.bytes]).toEqual([0, 0]);
    t.journal.refused.clear();
    await parent.sys.send(child.pid, bytes("y"));
    expect(text((await child.sys.recv()).data)).toBe("y");
  });

  test("is not taken back by who gives up once it has begun: it is there or it was refused", async () => {
    const { t, parent, child } = await pair();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const stop = new AbortController();
    const sending = parent.sys.send(child.pid, bytes("x"), stop.signal);
    await settle();
    stop.abort();
    gate.resolve();
    await sending;
    expect(text((await child.sys.recv()).data)).toBe("x");
    await expect(parent.sys.send(child.pid, bytes("x"), AbortSignal.abort())).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(child.proc.mailbox?.size).toBe(0);
  });

  test("sends what the bytes were when it was called", async () => {
    const { parent, child } = await pair();
    const data = bytes("before");
    const sending = parent.sys.send(child.pid, data);
    data.fill(0);
    await sending;
    expect(text((await child.sys.recv()).data)).toBe("before");
  });

  test("of 32 senders arrives in the order of the numbers, each sender's own in its order", async () => {
    const t = testKernel({ budget: () => ({ defaults: {}, windows: [], agents: { perMinute: 100 } }) });
    const reader = await t.start({ budget: { concurrent: 32 } });
    const senders = await Promise.all(Array.from({ length: 32 }, () => t.start({ by: reader.sys })));
    const all = Promise.all(
      senders.map(async ({ sys }, n) => {
        for (let i = 0; i < 20; i++) {
          await sys.send(reader.pid, bytes(`${n}:${i}`));
          if ((n + i) % 5 === 0) await settle(1);
        }
      }),
    );
    const got: { seq: number; from: string; i: number }[] = [];
    while (got.length < 32 * 20) {
      const { seq, data } = await reader.sys.recv();
      const [from = "", i] = text(data).split(":");
      got.push({ seq, from, i: Number(i) });
    }
    await all;
    expect(got.map(({ seq }) => seq)).toEqual(got.map((_, n) => n + 1));
    for (let n = 0; n < 32; n++) {
      const own = got.filter(({ from }) => from === String(n)).map(({ i }) => i);
      expect(own).toEqual(own.map((_, i) => i));
    }
  });

  test("waits while its sender is paused", async () => {
    const { t, parent, child } = await pair();
    await t.init.kill(parent.pid, 4);
    const sending = parent.sys.send(child.pid, bytes("x"));
    await settle();
    expect(t.journal.kinds()).not.toContain("mail.put");
    await t.init.kill(parent.pid, 5);
    await sending;
    expect((await child.sys.recv()).seq).toBe(1);
  });

  test("unread messages end with their process, and nothing is left", async () => {
    const { t, parent, child } = await pair();
    await parent.sys.send(child.pid, bytes("x"));
    const box = child.proc.mailbox;
    child.end();
    await parent.sys.wait(child.pid);
    parent.end();
    await t.init.wait(parent.pid);
    expect([box?.size, box?.bytes]).toEqual([0, 0]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

async function started() {
  const t = testKernel();
  return { t, ...(await t.start()) };
}

describe("recv()", () => {
  test("waits for a message, as long as it takes, and shows it", async () => {
    const { t, sys, pid, proc } = await started();
    sys.setActivity("tool");
    const message = sys.recv();
    await t.clock.advance(1_000_000);
    expect(t.kernel.info(proc).activity).toBe("waiting");
    await t.init.send(pid, bytes("x"));
    expect((await message).seq).toBe(1);
    expect(t.kernel.info(proc).activity).toBe("tool");
  });

  test("does not show what it does not do: a message that is there is taken at once", async () => {
    const { t, sys, pid, proc } = await started();
    sys.setActivity("tool");
    await t.init.send(pid, bytes("x"));
    const message = sys.recv();
    expect(t.kernel.info(proc).activity).toBe("tool");
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
    const { t, sys, pid, proc } = await started();
    sys.setActivity("thinking");
    const first = expect(sys.recv({ timeoutMs: 100 })).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "no message within 100 ms",
    });
    await t.clock.advance(99);
    expect(t.kernel.info(proc).activity).toBe("waiting");
    await t.clock.advance(1);
    await first;
    expect(t.kernel.info(proc).activity).toBe("thinking");
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
