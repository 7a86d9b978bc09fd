/** A life with all that a process may go through, cut off by the daemon's death at one record of its journal after another. */
import { expect, test } from "vitest";
import { asProcUuid, type Pid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { Begun, Program } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { layToRest } from "../../kernel/process/end/shutdown.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { MemoryJournal } from "../../kernel/testing/memory-journal.ts";
import { ALLOW, askWith } from "../../kernel/testing/scripted-permit.ts";
import {
  bytes,
  NOTHING_LEFT,
  type Started,
  type TestKernel,
  testKernel,
} from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { resume, wake } from "./wake.ts";

/** Knows where a batch ends: what is appended together is there together, or not at all. */
class CuttableJournal extends MemoryJournal {
  readonly #inside = new Set<number>();

  override async append(...args: Parameters<MemoryJournal["append"]>): ReturnType<MemoryJournal["append"]> {
    const places = await super.append(...args);
    for (const { lsn } of places.slice(0, -1)) this.#inside.add(lsn);
    return places;
  }

  /** How many records may be all there is. */
  get cuts(): readonly number[] {
    return this.records.map(({ lsn }) => lsn).filter((lsn) => !this.#inside.has(lsn));
  }
}

let generation = 0;

interface Daemon {
  readonly t: TestKernel;
  /** What each program got that went on. */
  readonly begun: Map<Pid, Begun>;
}

/** A daemon whose programs work until they are told to end. */
function daemonOn(journal: MemoryJournal): Daemon {
  generation++;
  let named = 0;
  const name = () => generation.toString(16).padStart(4, "0") + (++named).toString(16).padStart(12, "0");
  const begun = new Map<Pid, Begun>();
  const program: Program = (sys, start) => {
    begun.set(start.pid, { sys, start });
    return new Promise<typeof EXIT.unexpected>((resolve) =>
      sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)),
    );
  };
  const t = testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), program }, journal);
  return { t, begun };
}

const LIVED = [
  "permit.ask",
  "process.forked",
  "mail.done",
  "group.join",
  "call.intent",
  "process.recovered",
] as const;

/** Families, sessions, mail, groups, calls, questions, pauses, threads, forks, ends; rest, and what comes after it. */
async function life(): Promise<CuttableJournal> {
  const journal = new CuttableJournal();
  const t = testKernel({}, journal);
  const edit = new MessageDevice("edit");
  t.kernel.mount("/bin/edit", edit);
  edit.script.effects = [{ kind: "write", path: "/desk/a", change: "modify" }];
  const parent = await t.start({ contextBudget: 900 });
  const child = await t.start({ by: parent.sys, onParentExit: "terminate", contextBudget: 300 });
  const below = await t.start({ by: child.sys });
  const person = await t.start({ interactive: true });
  const session = await t.start({ session: true, group: "team", contextBudget: 500 });
  const helper = await t.start({ by: session.sys, onParentExit: "terminate" });
  for (const { sys, start } of [parent, child, below, person, session]) {
    await sys.appendMessage(start.ctxId, "assistant", "said");
    sys.checkpoint({ turn: 1 });
  }
  await journal.sync();
  await t.init.send(parent.pid, bytes("one"));
  await parent.sys.send(child.pid, bytes("two"));
  await t.init.send(session.pid, bytes("three"));
  await parent.sys.recv();
  await parent.sys.joinGroup(child.pid, "work");
  const fd = await parent.sys.open("/bin/edit", 2);
  await parent.sys.write(fd, bytes("{}"));
  parent.sys.addToCheckpoint({ call: 0 });
  await parent.sys.spawn("", null, { command: ["sleep", "9"] });
  await t.init.kill(child.pid, SIGNALS.SIGPAUSE);
  await t.init.kill(child.pid, SIGNALS.SIGRESUME);
  await t.init.kill(child.pid, SIGNALS.SIGPAUSE);
  await question(t, person);
  const threads = [await parent.sys.spawnThread("dig"), await parent.sys.spawnThread("look")];
  await journal.sync();
  await Promise.all(threads.map((tid) => parent.sys.joinThread(tid)));
  const fork = await t.kernel.forks.fork(parent.pid, { message: "another way" });
  await settle(8);
  // a call that nobody sees the end of
  edit.script.act = () => new Promise(() => {});
  void below.sys.write(await below.sys.open("/bin/edit", 2), bytes('{"n":1}')).catch(() => {});
  await settle(4);
  helper.end();
  await session.sys.wait(helper.pid);
  await session.sys.recv();
  await journal.sync();
  await layToRest(t.kernel, session.proc, "it has had nothing to do");
  await journal.sync();
  t.programs.set("work 5", ({ ending }) => untilOver(ending));
  await wake(t.kernel, session.pid);
  await settle(4);
  await t.init.kill(session.pid, SIGNALS.SIGPAUSE);
  await t.init.kill(fork.pid, SIGNALS.SIGTERM).catch(() => {});
  await settle(8);
  parent.end();
  await t.init.wait(parent.pid);
  await t.init.reap(parent.pid).catch(() => {});
  await settle(8);
  t.programs.set("work 1", ({ ending }) => untilOver(ending));
  await resume(t.kernel, parent.pid);
  await settle(4);
  await t.init.kill(parent.pid, SIGNALS.SIGKILL);
  await settle(8);
  await journal.sync();
  return journal;
}

const untilOver = (signal: AbortSignal) =>
  new Promise<typeof EXIT.unexpected>((resolve) =>
    signal.addEventListener("abort", () => resolve(EXIT.unexpected)),
  );

/** It is open while its process is paused. */
async function question({ kernel, permit, init }: TestKernel, { pid, sys, proc }: Started): Promise<void> {
  kernel.asks.attend(proc);
  permit.answer = () => askWith(null);
  const fd = await sys.open("/bin/edit", 2);
  void sys.write(fd, bytes("{}")).catch(() => {});
  await settle(4);
  await init.kill(pid, SIGNALS.SIGPAUSE);
  permit.answer = () => ALLOW;
}

async function recovered(journal: MemoryJournal) {
  const daemon = daemonOn(journal);
  const recovery = await daemon.t.kernel.recover();
  await settle(12);
  const pidsOf = (left: readonly { pid: Pid }[]) => left.map(({ pid }) => pid);
  const { lost } = recovery;
  return { ...daemon, lost, restored: pidsOf(recovery.restored), resting: pidsOf(recovery.resting) };
}

const sorted = (pids: Iterable<number>) => [...pids].sort((a, b) => a - b);

function spawnedIn(records: readonly JournalRecord[]): ReadonlyMap<Pid, SpawnedBody> {
  const found = new Map<Pid, SpawnedBody>();
  for (const { pid, kind, body } of records)
    if (kind === "process.spawned") found.set(pid, body as SpawnedBody);
  return found;
}

async function copied(records: readonly JournalRecord[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  await journal.append(records);
  return journal;
}

test("recover() after each record: none is lost or doubled, none gains a right, and the next daemon sees the same", async () => {
  const { records, cuts } = await life();
  expect(cuts.length).toBeGreaterThan(60);
  const met = { lost: 0, restored: 0, resting: 0, paused: 0, goesOn: 0 };
  for (const cut of cuts) {
    const before = records.slice(0, cut);
    const at = `after record ${cut} (${before.at(-1)?.kind} of pid ${before.at(-1)?.pid})`;
    const journal = await copied(before);
    const rows = new Map((await journal.rows({ live: true })).map((row) => [row.pid, row]));
    const mail = new Map<Pid, number>();
    for (const { pid } of await journal.liveMail()) mail.set(pid, (mail.get(pid) ?? 0) + 1);
    const groups = await journal.liveGroups();
    const first = await recovered(journal);
    const { lost, restored, resting, begun, t } = first;

    expect(sorted([...lost, ...restored, ...resting]), at).toEqual(sorted(rows.keys()));
    expect(sorted([...t.kernel.table.all()].map(({ pid }) => pid)), at).toEqual(sorted(restored));
    const spawned = spawnedIn(before);
    for (const pid of restored) {
      const { seed, ppid, isPaused, mailbox } = t.proc(pid);
      const was = spawned.get(pid)!;
      const is = { mode: seed.mode, devices: seed.rights.devices, limit: seed.account.limit };
      expect(is, at).toEqual({ mode: was.mode, devices: was.rights?.devices, limit: was.budget });
      expect(ppid, at).toBe(restored.includes(was.ppid as Pid) ? was.ppid : 0);
      expect(mailbox?.size ?? 0, at).toBe(mail.get(pid) ?? 0);
      expect(t.kernel.groups.of(t.proc(pid)).size, at).toBe(
        groups.filter((record) => record.pid === pid).length,
      );
      if (rows.get(pid)?.isPaused === true) expect(begun.has(pid), at).toBe(false);
      expect(begun.has(pid), `${at}: pid ${pid} works, or waits for a person`).toBe(!isPaused);
    }
    met.lost += lost.length;
    met.restored += restored.length;
    met.resting += resting.length;
    met.goesOn += begun.size;
    met.paused += restored.length - begun.size;

    await journal.sync();
    const second = await recovered(await copied(journal.records));
    expect(sorted([...second.restored, ...second.resting]), at).toEqual(sorted([...restored, ...resting]));
    expect(second.lost, at).toEqual([]);
    expect(sorted(second.begun.keys()), at).toEqual(sorted(begun.keys()));

    for (const pid of resting) {
      const proc = await wake(t.kernel, pid);
      expect([proc.seed.mode, proc.seed.account.limit], at).toEqual([
        spawned.get(pid)?.mode,
        spawned.get(pid)?.budget,
      ]);
    }
    await settle(8);
    await endAll(t);
    expect(t.census(), at).toEqual(NOTHING_LEFT);
    expect(await journal.rows({ live: true }), at).toEqual([]);
    expect(await journal.openCalls(), at).toEqual([]);
  }
  // nothing was left out of the life
  const kinds = new Set(records.map(({ kind }) => kind));
  for (const kind of LIVED) expect(kinds).toContain(kind);
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(20);
});

async function endAll(t: TestKernel): Promise<void> {
  for (const { pid } of [...t.kernel.table.all()]) await t.init.kill(pid, SIGNALS.SIGKILL).catch(() => {});
  await settle(8);
  for (const { pid } of [...t.kernel.table.all()]) await t.init.wait(pid).catch(() => {});
  await settle(8);
  await t.journal.sync();
}

/** Three children of an agent run at once; the others wait to begin. */
const RUNNING = 3;
const NARROW = () => ({ defaults: {}, windows: [], agents: { children: RUNNING, perMinute: 100 } });
const TEAM_NAME = "crew";

/** A daemon whose programs work until `over` lets them complete; a member of a team first tells its lead, once, that it is idle. */
function familyOn(journal: MemoryJournal) {
  generation++;
  let named = 0;
  const name = () => generation.toString(16).padStart(4, "0") + (++named).toString(16).padStart(12, "0");
  const over = new Map<Pid, () => void>();
  const handles = new Map<Pid, Sys>();
  const program: Program = (sys, { pid, team, restored }) =>
    new Promise((resolve) => {
      expect(over.has(pid), `pid ${pid} begins once`).toBe(false);
      handles.set(pid, sys);
      over.set(pid, () => resolve(EXIT.completed));
      sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected));
      if (team === undefined || restored?.state != null) return;
      const withCheckpoint = { isIdle: true };
      void sys
        .send(team.lead, bytes(`${team.name} is idle`), undefined, { withCheckpoint })
        .catch(() => sys.checkpoint(withCheckpoint));
    });
  const ports = { nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), program, budget: NARROW };
  return { t: testKernel(ports, journal), over, handles };
}

/**
 * An agent that leads a team, a child that it waits for, one in the background, a member of the team, and those that wait to begin,
 * a second member among them; all end, one after another.
 */
async function family(): Promise<{ journal: CuttableJournal; fore: Pid; members: readonly Pid[] }> {
  const journal = new CuttableJournal();
  const { t, over, handles } = familyOn(journal);
  const lead = await t.init.spawn("lead", null);
  const sys = handles.get(lead)!;
  await sys.joinGroup(lead, TEAM_NAME);
  const child = (call: string, more: object = {}, opts: object = {}) =>
    sys.spawn(call, null, { onParentExit: "terminate", child: { call, title: call, ...more }, ...opts });
  const later = (call: string) => child(call, { isBackground: true });
  const member = (called: string) =>
    child(called, { isBackground: true, team: TEAM_NAME, name: called }, { group: TEAM_NAME });
  const [fore, back, ann] = [await child("fore"), await later("back"), await member("ann")];
  const queued = [await later("one"), await member("bob"), await later("two")];
  await settle(8);
  expect([...over.keys()]).toEqual([lead, fore, back, ann]);
  const woken = sys.sleep(60_000, undefined, { pid: fore });
  for (const pid of [fore, back, ann, ...queued]) {
    over.get(pid)?.();
    await settle(8);
  }
  await woken;
  await sys.ended(fore, { isTold: true });
  over.get(lead)?.();
  await t.init.wait(lead);
  await journal.sync();
  return { journal, fore, members: [ann, queued[1]!] };
}

test("recover() after each record of a family: who waited to begin still waits, in order; each ends once and is told once", async () => {
  const { journal: whole, fore, members } = await family();
  const { records, cuts } = whole;
  const met = { queues: 0, members: 0 };
  for (const cut of cuts) {
    const before = records.slice(0, cut);
    const last = before.at(-1);
    const at = `after record ${cut} (${last?.kind} of pid ${last?.pid})`;
    const journal = await copied(before);
    const { t, over, handles } = familyOn(journal);
    await t.kernel.recover();
    await settle(12);
    const [lead, ...children] = sorted(
      [...t.kernel.table.all()].filter(({ isLive }) => isLive).map(({ pid }) => pid),
    ) as Pid[];
    const [running, waiting] = [children.slice(0, RUNNING), children.slice(RUNNING)];
    expect(sorted(over.keys()), at).toEqual([...(lead === undefined ? [] : [lead]), ...running]);
    const places = waiting.map((pid) => t.kernel.info(t.proc(pid)).queue);
    expect(places, at).toEqual(waiting.map((_pid, n) => ({ place: n + 1, of: waiting.length })));
    met.queues += waiting.length;
    met.members += await membersBack(t, { lead: handles.get(lead!), members, children, at });
    for (const pid of children) {
      over.get(pid)?.();
      await settle(8);
    }
    await journal.sync();
    const ends = journal.records.filter(({ kind, pid }) => kind === "process.exited" && pid !== 1);
    const known = [...spawnedIn(before).keys()].filter((pid) => pid !== 1);
    expect(sorted(ends.map(({ pid }) => pid)), at).toEqual(sorted(known));
    const mail = journal.records.filter(({ kind }) => kind === "mail.put").map(({ body }) => body as Mail);
    const told = mail.flatMap(({ notice = [] }) => notice);
    expect(sorted(told), at).toEqual(sorted(known.filter((pid) => pid !== fore)));
    const idle = members.filter((pid) => known.includes(pid));
    expect(sorted(mail.filter(({ notice }) => notice === undefined).map(({ from }) => from)), at).toEqual(
      sorted(idle),
    );
    await endAll(t);
    expect(t.census(), at).toEqual(NOTHING_LEFT);
  }
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(10);
});

interface Mail {
  readonly from: number;
  /** The child whose end it tells. */
  readonly notice?: number;
}

/** The members that are there again: in the group of their lead, and none may be started a second time. How many. */
async function membersBack(
  t: TestKernel,
  {
    lead,
    members,
    children,
    at,
  }: { lead: Sys | undefined; members: readonly Pid[]; children: readonly Pid[]; at: string },
): Promise<number> {
  const back = members.filter((pid) => children.includes(pid));
  for (const pid of back) {
    const { child } = t.proc(pid).seed;
    expect(t.kernel.groups.of(t.proc(pid)).size, at).toBe(1);
    expect(child?.team, at).toBe(TEAM_NAME);
    await expect(lead?.spawn("again", null, { child: child!, group: TEAM_NAME }), at).rejects.toMatchObject({
      code: "CONFLICT",
    });
  }
  return back.length;
}
