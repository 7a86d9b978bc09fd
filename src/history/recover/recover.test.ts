/** What a daemon takes over from one that died in the middle of work. */

import { describe, expect, test } from "vitest";
import type { Notice } from "../../abi/fact.ts";
import { asProcUuid, type Pid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { Begun, ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import type { MemoryJournal } from "../../kernel/testing/memory-journal.ts";
import {
  agentFile,
  bytes,
  NOTHING_LEFT,
  type TestKernel,
  testKernel,
  text,
} from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";

let generation = 0;

function daemonOn(journal: MemoryJournal, ports: Partial<KernelPorts> = {}): TestKernel {
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  return testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), ...ports }, journal);
}

/** What each program gets that goes on, by its pid; it works until it is told to end. */
function working(next: TestKernel): Map<Pid, Begun> {
  const begun = new Map<Pid, Begun>();
  const { ports } = next.kernel;
  Object.assign(ports, {
    program: (sys: Sys, start: ProgramStart) => {
      begun.set(start.pid, { sys, start });
      return new Promise((resolve) => sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
    },
  });
  return begun;
}

async function nextAfterCrash(t: TestKernel) {
  await t.journal.sync();
  const next = daemonOn(t.journal);
  const begun = working(next);
  const recovery = await next.kernel.recover();
  await settle(8);
  await next.journal.sync();
  return { next, begun, recovery };
}

const saidBy = (t: TestKernel, pid: number) =>
  t.journal.records
    .filter((r) => r.pid === pid && r.kind === "process.log")
    .map(({ body }) => body as Notice)
    .map(({ message, fact }) => (fact === undefined ? message : `${message} [${fact.kind}]`));

describe("a headless agent in the middle of its work", () => {
  test("goes on by itself with what it had: context, place, mail, budget", async () => {
    const t = testKernel();
    const { pid, sys, start } = await t.start({ contextBudget: 500 });
    await sys.appendMessage(start.ctxId, "assistant", "said");
    sys.checkpoint({ turn: 3 });
    await t.init.send(pid, bytes("hello"));
    const { next, begun, recovery } = await nextAfterCrash(t);
    expect(recovery).toMatchObject({ lost: [], restored: [{ pid }], resting: [] });
    const { sys: mine, start: again } = begun.get(pid)!;
    expect(again.restored).toEqual({ state: { turn: 3 }, since: [] });
    expect((await mine.buildPrompt(again.ctxId)).messages.map(({ content }) => content)).toEqual([
      "work 1",
      "said",
    ]);
    expect(text((await mine.recv()).data)).toBe("hello");
    expect(next.proc(pid).seed.account.limit).toBe(500);
    expect(saidBy(next, pid).at(-1)).toBe(
      "its daemon stopped while it worked; it resumes from its last step",
    );
    await next.init.kill(pid, SIGNALS.SIGTERM);
    await next.init.wait(pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("has what was left of its time, over daemons and pauses", async () => {
    const t = testKernel();
    const { pid } = await t.start({ timeoutMs: 1_000 });
    t.journal.now = 600;
    t.kernel.note(t.proc(pid), "process.log", { message: "still here" });
    await t.journal.sync();
    // the time between two daemons does not count
    t.journal.now = 50_000;
    const first = await nextAfterCrash(t);
    t.kernel.note(first.next.proc(pid), "process.log", { message: "200 more" });
    t.journal.now = 50_200;
    await t.journal.sync();
    t.journal.now = 90_000;
    const second = await nextAfterCrash(first.next);
    await second.next.clock.advance(199);
    expect(second.next.proc(pid).isLive).toBe(true);
    await second.next.clock.advance(1);
    expect((await second.next.init.wait(pid)).reason).toBe("timeout");
  });

  test("is not read at boot, nor are those that wait; and no more than four at once", async () => {
    const t = testKernel();
    for (let n = 0; n < 40; n++) {
      const { pid } = await t.start();
      if (n % 2 === 0) await t.init.kill(pid, SIGNALS.SIGPAUSE);
    }
    await t.journal.sync();
    const next = daemonOn(t.journal);
    working(next);
    let [under, most] = [0, 0];
    const read = t.journal.read.bind(t.journal);
    t.journal.read = async (...args) => {
      most = Math.max(most, ++under);
      await settle(1);
      under--;
      return read(...args);
    };
    t.journal.pagesRead = 0;
    const { restored } = await next.kernel.recover();
    expect([restored.length, t.journal.pagesRead]).toEqual([40, 0]);
    await settle(200);
    expect(most).toBe(4);
    const held = [...next.kernel.table.all()].filter(({ past }) => past.isUnread);
    expect(held).toHaveLength(20);
  });

  test("that cannot be read stays paused and says so; others go on", async () => {
    const t = testKernel();
    const [bad, well] = [await t.start(), await t.start()];
    const known = await t.start();
    await t.journal.sync();
    const read = t.journal.read.bind(t.journal);
    t.journal.read = async (proc, ...args) => {
      if (proc === bad.proc.seed.uuid) throw new Error("record 2 is damaged");
      return read(proc, ...args);
    };
    t.journal.damaged.set(known.proc.seed.uuid, 2);
    const { next, begun } = await nextAfterCrash(t);
    expect([...begun.keys()]).toEqual([well.pid]);
    for (const { pid } of [bad, known]) {
      expect(next.kernel.info(next.proc(pid))).toMatchObject({
        activity: "paused",
        held: "damage",
      });
      expect(saidBy(next, pid).at(-1)).toMatch(/\[damaged\]$/);
    }
  });
});

describe("one whose person could answer", () => {
  test("waits for that person, in the daemons to come, too, and goes on when it is told", async () => {
    const t = testKernel();
    const top = await t.start({ interactive: true });
    t.kernel.attach(top.pid, { interactive: true });
    const child = await t.start({ by: top.sys });
    const { next, begun } = await nextAfterCrash(t);
    expect(begun.size).toBe(0);
    expect(saidBy(next, top.pid)[0]).toBe(`its daemon stopped while it worked; it is paused [paused]`);
    const later = await nextAfterCrash(next);
    expect(later.begun.size).toBe(0);
    await later.next.init.kill(child.pid, SIGNALS.SIGRESUME);
    await settle(8);
    expect([...later.begun.keys()]).toEqual([child.pid]);
  });

  test("goes on with all below it that waits, but for what the user paused", async () => {
    const t = testKernel();
    const top = await t.start({ interactive: true });
    t.kernel.attach(top.pid, { interactive: true });
    const [child, held] = [await t.start({ by: top.sys }), await t.start({ by: top.sys })];
    const deep = await t.start({ by: child.sys });
    await t.init.kill(held.pid, SIGNALS.SIGPAUSE);
    const { next, begun } = await nextAfterCrash(t);
    expect(begun.size).toBe(0);
    await next.init.kill(top.pid, SIGNALS.SIGRESUME);
    await settle(8);
    expect([...begun.keys()].sort()).toEqual([top.pid, child.pid, deep.pid]);
    const again = await nextAfterCrash(t);
    await again.next.kernel.resume(top.pid);
    await settle(8);
    expect([...again.begun.keys()].sort()).toEqual([top.pid, child.pid, deep.pid]);
  });
});

/** A daemon that stops while it reads the history of this process; of the others it reads what it needs. */
async function dyingOver({ journal }: TestKernel, pid: Pid): Promise<TestKernel> {
  await journal.sync();
  const dying = daemonOn(journal);
  const read = journal.read.bind(journal);
  const uuid = await journal.processOf(pid);
  journal.read = (proc, ...more) => (proc === uuid ? new Promise(() => {}) : read(proc, ...more));
  working(dying);
  await dying.kernel.recover();
  await settle(8);
  await dying.clock.advance(LIMITS.putOffMs);
  await settle(8);
  journal.read = read;
  return dying;
}

test("a process whose reading ended the daemon stays paused while others are served, and goes on then or when a person says so", async () => {
  const t = testKernel();
  const { pid } = await t.start();
  const dying = await dyingOver(t, pid);
  const { next, begun } = await nextAfterCrash(dying);
  expect(begun.size).toBe(0);
  expect(saidBy(next, pid).at(-1)).toMatch(/^recovery_failed: .* \[unread\]$/);
  const again = await nextAfterCrash(next);
  expect(again.begun.size).toBe(0);
  await again.next.init.kill(pid, SIGNALS.SIGRESUME);
  await settle(8);
  expect([...again.begun.keys()]).toEqual([pid]);
  // and if nobody says so
  const last = await nextAfterCrash(await dyingOver(again.next, pid));
  expect([...last.begun.keys()]).toEqual([]);
  await last.next.clock.advance(LIMITS.putOffMs);
  expect([...last.begun.keys()]).toEqual([pid]);
  expect(last.next.kernel.info(last.next.proc(pid))).not.toHaveProperty("held");
  expect([...(await nextAfterCrash(last.next)).begun.keys()]).toEqual([pid]);
});

type Child = { readonly pid: Pid };

/** Only the lead goes on, and it is told of each child that could not be read. */
async function expectTold(
  { next, begun }: Awaited<ReturnType<typeof nextAfterCrash>>,
  { lead, waited, alone }: { readonly lead: Child; readonly waited: Child; readonly alone: Child },
): Promise<void> {
  expect([...begun.keys()]).toEqual([lead.pid]);
  const sys = begun.get(lead.pid)!.sys;
  expect((await sys.ended(waited.pid))?.exit).toMatchObject({ code: 1, reason: "recovery_failed" });
  const notice = await sys.recv();
  expect([notice.notice, text(notice.data)]).toEqual([alone.pid, expect.stringContaining("recovery_failed")]);
  expect(next.journal.bodies("process.exited")).toHaveLength(2);
}

describe("a child that its daemon was killed in the reading of", () => {
  test.each([false, true])(
    "goes on by itself below a headless parent (in the background: %s)",
    async (isBackground) => {
      const t = testKernel();
      const lead = await t.start();
      const child = await t.start({
        by: lead.sys,
        child: { call: "c1", title: "x", ...(isBackground ? { isBackground } : {}) },
      });
      const { next, begun } = await nextAfterCrash(await dyingOver(t, child.pid));
      expect([...begun.keys()]).toEqual([lead.pid]);
      // a pause of the user is one of the user
      await next.init.kill(child.pid, SIGNALS.SIGRESUME);
      await next.init.kill(child.pid, SIGNALS.SIGPAUSE);
      await next.clock.advance(LIMITS.putOffMs);
      expect(next.kernel.info(next.proc(child.pid))).toMatchObject({ activity: "paused", held: "signal" });
      await next.init.kill(child.pid, SIGNALS.SIGRESUME);
      const later = await nextAfterCrash(await dyingOver(next, child.pid));
      await later.next.clock.advance(LIMITS.putOffMs);
      expect([...later.begun.keys()].sort()).toEqual([lead.pid, child.pid].sort());
    },
  );

  test("that ends a second daemon ends itself, unread, and its parent is told", async () => {
    const t = testKernel();
    const lead = await t.start();
    const [waited, alone] = [
      await t.start({ by: lead.sys, child: { call: "c1", title: "waited" } }),
      await t.start({ by: lead.sys, child: { call: "c2", title: "alone", isBackground: true } }),
    ];
    const once = await dyingOver(await dyingOver(t, waited.pid), waited.pid);
    const twice = await dyingOver(await dyingOver(once, alone.pid), alone.pid);
    const back = await nextAfterCrash(twice);
    await expectTold(back, { lead, waited, alone });
  });
});

describe("a child whose history is damaged", () => {
  test.each(["known", "found"] as const)(
    "ends below a headless parent, which is told, also where the damage is %s",
    async (when) => {
      const t = testKernel();
      const lead = await t.start();
      const [waited, alone] = [
        await t.start({ by: lead.sys, child: { call: "c1", title: "waited" } }),
        await t.start({ by: lead.sys, child: { call: "c2", title: "alone", isBackground: true } }),
      ];
      await t.journal.sync();
      const bad = new Set([waited, alone].map(({ proc }) => proc.seed.uuid));
      const read = t.journal.read.bind(t.journal);
      t.journal.read = async (proc, ...args) => {
        if (bad.has(proc)) throw new Error("record 2 is damaged");
        return read(proc, ...args);
      };
      if (when === "known") for (const uuid of bad) t.journal.damaged.set(uuid, 2);
      const back = await nextAfterCrash(t);
      await settle(8);
      await expectTold(back, { lead, waited, alone });
    },
  );
});

test("the end of a process whose reading ended a daemon, or failed, does not read it", async () => {
  const t = testKernel();
  const [unread, known, found] = [await t.start(), await t.start(), await t.start()];
  const { journal } = await dyingOver(await dyingOver(t, unread.pid), unread.pid);
  journal.damaged.set(known.proc.seed.uuid, 2);
  const whole = journal.read.bind(journal);
  journal.read = async (proc, ...args) => {
    if (proc === found.proc.seed.uuid) throw new Error("record 2 is damaged");
    return whole(proc, ...args);
  };
  const { next } = await nextAfterCrash(t);
  const reads: string[] = [];
  const read = next.journal.read.bind(next.journal);
  next.journal.read = (proc, ...args) => {
    reads.push(proc);
    return read(proc, ...args);
  };
  for (const { pid, proc } of [unread, known, found]) {
    expect(next.kernel.info(next.proc(pid))).toMatchObject({ activity: "paused" });
    await next.init.kill(pid, SIGNALS.SIGTERM);
    await settle(8);
    expect(await next.init.wait(pid)).toMatchObject({ reason: "killed: SIGTERM" });
    expect(reads).not.toContain(proc.seed.uuid);
  }
});

test("a program of the host is lost; its owner hears of it, and where its output is", async () => {
  const t = testKernel();
  const owner = await t.start();
  const pid = await owner.sys.spawn("", null, { command: ["sleep", "9"] });
  const { next, recovery } = await nextAfterCrash(t);
  expect(recovery.lost).toEqual([pid]);
  expect(t.journal.bodies("process.exited")).toMatchObject([{ code: 137, reason: "lost", kind: "killed" }]);
  expect(saidBy(next, owner.pid)).toContain(`process ${pid} (sleep 9) ended with its daemon [ended]`);
});

test("a session rests with all below it, and its unknown calls are told to whoever opens it", async () => {
  const t = testKernel();
  const tool = new MessageDevice("edit");
  t.kernel.mount("/bin/edit", tool);
  tool.script.act = () => new Promise(() => {});
  const session = await t.start({ session: true, group: "team" });
  const child = await t.start({ by: session.sys, onParentExit: "terminate" });
  void session.sys.write(await session.sys.open("/bin/edit", 2), bytes("{}")).catch(() => {});
  await settle();
  const joined = [...t.kernel.groups.of(session.proc)];
  const { next, recovery } = await nextAfterCrash(t);
  expect(recovery.resting.map(({ pid }) => pid)).toEqual([session.pid, child.pid]);
  expect(next.census()).toEqual(NOTHING_LEFT);
  expect(saidBy(next, session.pid)).toEqual(["1 call has an unknown outcome: edit; check before repeating"]);
  const other = await next.init.spawn("other", null, { group: "others" });
  expect([...next.kernel.groups.of(next.proc(other))]).not.toEqual(joined);
});

test("one whose spawn nobody may have heard of waits for a person; one that has begun was heard of", async () => {
  const t = testKernel();
  const heard = await t.start();
  await t.journal.sync();
  const acknowledgedLsn = t.journal.records.length;
  const begun = await t.start();
  begun.sys.checkpoint({ turn: 1 });
  await t.journal.sync();
  const child = await t.start({ by: heard.sys });
  const unheard = await t.start();
  const fork = await t.start({ group: "team", agent: agentFile({ systemPrompt: "be kind" }) });
  // what was only noted dies with the daemon
  t.journal.crash();
  Object.assign(t.journal, { acknowledgedLsn });
  const { next, begun: working, recovery } = await nextAfterCrash(t);
  expect(recovery.restored).toHaveLength(5);
  expect([...working.keys()].sort()).toEqual([heard.pid, begun.pid, child.pid]);
  for (const { pid } of [unheard, fork]) {
    expect(next.kernel.info(next.proc(pid))).toMatchObject({ activity: "paused", held: "crash" });
    expect(saidBy(next, pid).at(-1)).toMatch(/may not have heard; it is paused \[paused\]$/);
  }
  // and so it does in the daemons to come
  Object.assign(t.journal, { acknowledgedLsn: Infinity });
  const later = await nextAfterCrash(next);
  expect([...later.begun.keys()].sort()).toEqual([heard.pid, begun.pid, child.pid]);
  await later.next.init.kill(unheard.pid, SIGNALS.SIGRESUME);
  await settle(8);
  expect(later.begun.has(unheard.pid)).toBe(true);
});
