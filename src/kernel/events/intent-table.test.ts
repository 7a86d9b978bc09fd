/** Intents, projections and compaction over a journal in memory. */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import type { KernelEvent } from "../ports/events.ts";
import type { IntentClient, IntentWish } from "../ports/intents.ts";
import { TestKernel } from "../testing/test-kernel.ts";

let t: TestKernel;
beforeEach(() => {
  t = new TestKernel();
});

const begin = (name: string, more: Partial<IntentWish> = {}) =>
  t.kernel.intents.begin({ owner: PID_KERNEL, name, ids: {}, ...more });
const publish = (event: string, data: object = {}, more: object = {}) =>
  t.kernel.events.publish({ event, data, ...more });
/** What a reader from this position gets. */
async function readFrom(seq: number, kernel = t.kernel): Promise<readonly KernelEvent[]> {
  const all: KernelEvent[] = [];
  for (let place = { seq }; ; ) {
    const { events, next } = await kernel.events.read(place);
    all.push(...events);
    if (
      events.length === 0 &&
      (next as object as { record?: number }).record === (place as { record?: number }).record
    )
      return all;
    place = next;
  }
}
const told = async (name: string) => (await readFrom(0)).filter(({ event }) => event === name);
const state = async (projection: "intents" | "progress" | "processes", more: object = {}) =>
  (await t.kernel.intents.project({ projection, sees: () => true, ...more })).state;

class Client implements IntentClient {
  readonly actor: number;
  readonly isCooperative: boolean;
  readonly heard: KernelEvent[] = [];
  readonly aborted: string[] = [];
  begun = "";

  constructor(actor: number, isCooperative = true) {
    this.actor = actor;
    this.isCooperative = isCooperative;
  }

  hasBegun(id: string): boolean {
    return this.begun === id;
  }

  told(event: KernelEvent): void {
    this.heard.push(event);
  }

  abort(intents: ReadonlySet<string>): void {
    this.aborted.push(...intents);
  }
}

describe("intents", () => {
  it("begin twice is one event, also side by side; end twice keeps the first outcome", async () => {
    const wish = { intentId: "a" };
    const [first, second] = await Promise.all([begin("one", wish), begin("one", wish)]);
    expect(second).toEqual(first);
    expect(await begin("one", wish)).toEqual(first);
    expect(await told("intent.started")).toHaveLength(1);
    await t.clock.advance(70);
    const ends = ["completed", "failed"] as const;
    const durations = ends.map((outcome) => t.kernel.intents.end("a", { outcome }));
    expect(await Promise.all(durations)).toEqual([70, 70]);
    expect((await told("intent.ended")).map(({ data }) => data)).toEqual([
      { intentId: "a", outcome: "completed", durationMs: 70 },
    ]);
    await expect(begin("one", wish)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("of agents cannot be begun ahead of them", async () => {
    const { pid } = await t.start();
    const refused = { code: "PERMISSION", message: expect.stringContaining("intent of an agent") };
    for (const owner of [PID_KERNEL, pid])
      await expect(begin("squat", { intentId: "i_77", owner })).rejects.toMatchObject(refused);
    expect((await begin("own", { intentId: `i_${pid}`, owner: pid })).owner).toBe(pid);
  });

  it("nest 16 deep, inherit the story, and end with the outer one as cancelled", async () => {
    const outer = await begin("0", { intentId: "n0", ids: { correlationId: "story" } });
    for (let n = 1; n < 16; n++)
      expect(await begin(`${n}`, { intentId: `n${n}`, parentIntentId: `n${n - 1}` })).toMatchObject({
        parent: `n${n - 1}`,
        correlationId: "story",
      });
    await expect(begin("16", { parentIntentId: "n15" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(begin("x", { parentIntentId: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await t.kernel.intents.end(outer.id, { outcome: "completed" });
    const outcomes = (await told("intent.ended")).map(({ data }) => (data as { outcome: string }).outcome);
    expect(outcomes).toEqual([...Array(15).fill("cancelled"), "completed"]);
    expect(t.kernel.intents.open()).toEqual([]);
  });

  it("fail with their owner, in this daemon and in the next; another's is not found", async () => {
    const { pid, end, proc } = await t.start();
    await begin("work", { owner: pid, intentId: "w" });
    await begin("inner", { owner: pid, intentId: "v", parentIntentId: "w" });
    await expect(begin("theft", { intentId: "w" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    end();
    await proc.done.promise;
    await t.clock.advance(1);
    const data = (await told("intent.ended")).map((each) => each.data);
    expect(data).toMatchObject([
      { intentId: "v", outcome: "failed", reason: "owner exited" },
      { intentId: "w", outcome: "failed", reason: "owner exited" },
    ]);
    await publish("intent.started", { intentId: "lost", name: "n" }, { intentId: "lost", pid: asPid(99) });
    const next = new TestKernel({}, t.journal);
    await next.kernel.intents.ready();
    await next.clock.advance(1);
    expect(next.kernel.intents.find("lost")).toMatchObject({ outcome: "failed" });
    expect(next.kernel.intents.find("w")).toMatchObject({ outcome: "failed", processes: [] });
  });

  it("of the user that nobody came back to are abandoned after a day", async () => {
    await begin("left", { intentId: "left" });
    await t.clock.advance(23 * 3_600_000);
    await publish("tool.progress", {}, { intentId: "left" });
    await t.clock.advance(23 * 3_600_000);
    await begin("other");
    expect(t.kernel.intents.find("left")?.end).toBeNull();
    await t.clock.advance(2 * 3_600_000);
    await begin("third");
    expect(t.kernel.intents.find("left")).toMatchObject({ outcome: "failed" });
  });
});

describe("cancel", () => {
  const cancel = (id: string, graceMs = 5_000) =>
    t.kernel.intents.cancel([id], { reason: "enough", graceMs, ids: {} });

  it("ends all that was started for it at once, and the intents when they have ended", async () => {
    const work = await t.start();
    await begin("outer", { intentId: "o" });
    await begin("inner", { intentId: "i", parentIntentId: "o" });
    t.kernel.intents.join("i", work.pid);
    const client = new Client(0, false);
    t.kernel.intents.attend(client);
    expect(await cancel("o")).toEqual({ intents: ["o", "i"], processes: [Number(work.pid)] });
    expect(client.aborted).toEqual(["o", "i"]);
    expect(client.heard).toEqual([]);
    await work.proc.done.promise;
    await t.clock.advance(0);
    expect(work.proc.exit).toMatchObject({ code: 143 });
    expect((await told("intent.cancel_requested")).map(({ intentId }) => intentId)).toEqual(["o", "i"]);
    expect((await told("intent.ended")).map(({ data }) => data)).toMatchObject([
      { intentId: "i", outcome: "cancelled", reason: "enough" },
      { intentId: "o", outcome: "cancelled" },
    ]);
    expect(await cancel("o")).toEqual({ intents: [], processes: [] });
    await expect(begin("late", { parentIntentId: "o" })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("leaves one that cooperates until the deadline, then TERM, then KILL; again only shortens it", async () => {
    const work = await t.start({ stubborn: true });
    await begin("job", { intentId: "j" });
    t.kernel.intents.join("j", work.pid);
    const client = new Client(Number(work.pid));
    t.kernel.intents.attend(client);
    await cancel("j", 20_000);
    expect(client.heard).toMatchObject([{ event: "intent.cancel_requested", intentId: "j" }]);
    await cancel("j", 30_000);
    await cancel("j", 2_000);
    expect(client.heard.map(({ data }) => (data as { deadline: number }).deadline)).toEqual([
      t.clock.now() + 20_000,
      t.clock.now() + 2_000,
    ]);
    const signals = () => t.journal.records.filter(({ kind }) => kind === "signal").map(({ body }) => body);
    await t.clock.advance(1_999);
    expect(signals()).toEqual([]);
    await t.clock.advance(1);
    expect(signals()).toMatchObject([{ signal: 1 }]);
    await t.clock.advance(5_000);
    expect(signals()).toMatchObject([{ signal: 1 }, { signal: 2 }]);
    work.end();
    await work.proc.done.promise;
    await t.clock.advance(0);
    expect(t.kernel.intents.find("j")).toMatchObject({ outcome: "cancelled" });
  });

  it("waits for the owner that cooperates to end it, whatever it says", async () => {
    await begin("job", { intentId: "j" });
    const client = new Client(0);
    client.begun = "j";
    t.kernel.intents.attend(client);
    await cancel("j");
    await t.clock.advance(4_999);
    expect(t.kernel.intents.find("j")?.end).toBeNull();
    await t.kernel.intents.end("j", { outcome: "completed" });
    expect(t.kernel.intents.find("j")).toMatchObject({ outcome: "cancelled" });
  });
});

describe("projections", () => {
  it("are the same after a restart, and known at every position", async () => {
    await begin("outer", { intentId: "o" });
    await begin("inner", { intentId: "i", parentIntentId: "o" });
    const started = await publish(
      "process.started",
      { id: "p", ppid: 0, osPid: 5, command: ["x"] },
      { pid: 7, intentId: "i" },
    );
    await publish("tool.progress", { n: 1 }, { pid: 7, retain: "latest" });
    await publish("tool.progress", { n: 2 }, { pid: 7, retain: "latest" });
    await publish("process.exited", { exitCode: 0, usage: { cpuMs: 1 }, streams: {} }, { pid: 7 });
    await t.kernel.intents.end("o", { outcome: "completed" });
    const all = async () => [await state("intents"), await state("progress"), await state("processes")];
    const before = await all();
    expect(before).toMatchObject([
      [{ id: "o", outcome: "completed", children: [{ id: "i", outcome: "cancelled", processes: [7] }] }],
      { 7: { "tool.progress": { n: 2 } } },
      { 7: { id: "p", state: "dead", exit: { exitCode: 0 }, intentId: "i", command: ["x"] } },
    ]);
    t = new TestKernel({}, t.journal);
    expect(await all()).toEqual(before);
    expect(await state("processes", { at: started })).toMatchObject({ 7: { state: "running", exit: null } });
    expect(await state("intents", { at: started })).toMatchObject([
      { outcome: null, children: [{ outcome: null }] },
    ]);
    expect(await state("processes", { sees: () => false })).toEqual({});
    await expect(state("processes", { at: 10_000 })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("compaction changes none but the timeline, where the range is one row; a reader from 0 gets the summary", async () => {
    const { pid } = await t.start();
    await publish("a.b", {}, { correlationId: "c", pid });
    await begin("open", { intentId: "open" });
    await begin("over", { intentId: "over", ids: { correlationId: "c" } });
    for (let n = 0; n < 5; n++) await publish("tool.progress", { n }, { correlationId: "c" });
    await t.kernel.intents.end("over", { outcome: "completed" });
    const gone = (await readFrom(0)).filter(
      ({ intentId, pid: about }) => intentId !== "open" && about !== pid,
    );
    const last = await publish("tool.progress", { n: 9 }, { correlationId: "c" });
    const all = async () => [await state("intents"), await state("progress")];
    const before = await all();
    const done = await t.kernel.intents.compact(last);
    expect(done).toEqual({ from: gone[0]?.seq, to: gone.at(-1)?.seq, removed: 7, kept: 0 });
    const check = async (): Promise<void> => {
      expect(await all()).toEqual(before);
      const seen = await readFrom(0);
      expect(seen.map(({ event, seq }) => [event, seq]).slice(0, 4)).toEqual([
        ["a.b", seen[0]?.seq],
        ["intent.started", (gone[0]?.seq ?? 0) - 1],
        ["event.compacted", done.to],
        ["tool.progress", last],
      ]);
      const { createHash } = await import("node:crypto");
      const hash = createHash("sha256");
      for (const event of gone) hash.update(`${JSON.stringify(event)}\n`);
      expect(seen[2]?.data).toMatchObject({
        counts: { "tool.progress": 5, "intent.started": 1, "intent.ended": 1 },
        digest: hash.digest("hex"),
      });
      expect(seen).toHaveLength(4);
      const { state: rows } = await t.kernel.intents.project({
        projection: "timeline",
        correlationId: "c",
        sees: () => true,
      });
      expect((rows as { event: string }[]).map(({ event }) => event)).toEqual([
        "a.b",
        "event.compacted",
        "tool.progress",
      ]);
      await expect(state("intents", { at: 1 })).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: expect.stringContaining(String(done.to + 1)),
      });
    };
    await check();
    expect((await readFrom(last)).map(({ event }) => event)).toEqual(["event.compacted"]);
    t = new TestKernel({}, t.journal);
    await check();
  });

  it("property: whatever happened, compaction anywhere changes no projection, in this daemon and in the next", async () => {
    const step = fc.tuple(fc.constantFrom("begin", "end", "progress", "publish", "claim"), fc.nat(3));
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(fc.nat(30), { maxLength: 3 }),
        async (steps, cuts) => {
          t = new TestKernel();
          for (const [what, n] of steps) {
            const intentId = `i${n}`;
            if (what === "begin") await begin(`work ${n}`, { intentId }).catch(() => {});
            if (what === "end") await t.kernel.intents.end(intentId, { outcome: "failed" }).catch(() => {});
            if (what === "progress") await publish(`tool${n}.progress`, { n: steps.length });
            if (what === "publish") await publish("tool.done", {}, { intentId });
            const claim = { device: "x/y", claim: `c${n}`, pid: 0, mode: "shared", fence: 1, cause: "claim" };
            if (what === "claim") await publish("device.claimed", claim);
          }
          const all = async () => {
            const ends = await Promise.all([state("intents"), state("progress"), state("processes")]);
            return JSON.stringify(ends);
          };
          await t.kernel.intents.ready();
          const before = await all();
          const seqs = (await readFrom(0)).map(({ seq }) => seq);
          for (const cut of cuts) {
            const at = seqs[cut % Math.max(1, seqs.length)];
            if (at !== undefined) await t.kernel.intents.compact(at);
            expect(await all()).toBe(before);
          }
          t = new TestKernel({}, t.journal);
          await t.kernel.intents.ready();
          expect(await all()).toBe(before);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("a timeline goes on behind a page of which every event was compacted", async () => {
    for (let n = 0; n < 300; n++) await publish("tool.done", { n }, { correlationId: "c" });
    await t.kernel.intents.compact(await publish("tool.last", {}, { correlationId: "c" }));
    const wish = { projection: "timeline", correlationId: "c", sees: () => true } as const;
    const rows = (await t.kernel.intents.project(wish)).state as { event: string }[];
    expect(rows.map(({ event }) => event)).toEqual(["event.compacted", "tool.last"]);
  });

  it("a program that was lost with its daemon has ended in the next, and is told once", async () => {
    const about = { pid: 99, id: "p", intentId: "i" };
    await publish("process.started", { id: "p", ppid: 0, osPid: 5, command: ["x"], cwd: "/w" }, about);
    t = new TestKernel({}, t.journal);
    expect(await state("processes")).toMatchObject({
      99: {
        state: "dead",
        cwd: "/w",
        exit: { reason: "lost", kind: "killed" },
        streams: { stdout: { open: false } },
      },
    });
    t = new TestKernel({}, t.journal);
    await t.kernel.intents.ready();
    expect(await told("process.exited")).toMatchObject([{ ...about, data: { id: "p", exitCode: 137 } }]);
  });

  it("a program of which its daemon could tell nothing is told when its request comes again, once", async () => {
    const start = { ppid: 0, command: ["x", "y"], cwd: "/w", pty: false };
    const known = { ...start, id: "p", pid: asPid(99), ids: { intentId: "i", correlationId: "c" } };
    await t.kernel.intents.recall(known);
    await t.kernel.intents.recall(known);
    t = new TestKernel({}, t.journal);
    await t.kernel.intents.recall(known);
    const about = { pid: 99, id: "p", intentId: "i" };
    expect(await told("process.started")).toMatchObject([
      { ...about, correlationId: "c", data: { ...start } },
    ]);
    expect(await told("process.exited")).toMatchObject([{ ...about, data: { reason: "lost" } }]);
    expect(await state("processes")).toMatchObject({ 99: { state: "dead", exit: { reason: "lost" } } });
    // one that has ended otherwise was told of
    const { pid, end } = await t.start();
    end();
    await t.init.wait(pid);
    await t.kernel.intents.recall({ ...known, pid });
    expect(await told("process.started")).toHaveLength(1);
  });

  /** The claim of a device, as another one could hold it beside this. */
  async function shared() {
    const identity = { id: "x/y", kind: "virtual", name: "y", driver: "loop" } as const;
    const channel = {
      read: async () => ({ data: new Uint8Array(), isEnd: true }),
      write: async () => {},
      close: async () => {},
    };
    t.kernel.hal.add({
      identity: { ...identity, modes: ["read"] },
      isHarmless: true,
      meta: () => ({}),
      open: async () => channel,
    });
    const wish = { owner: PID_KERNEL, mode: "shared", ttlMs: 1_000, waitMs: 0 } as const;
    const { path } = t.kernel.hal.wish("x/y", wish);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const opening = {
      device: "x/y",
      name,
      pid: PID_KERNEL,
      flags: 0,
      signal: new AbortController().signal,
    } as const;
    return t.kernel.hal.open(opening);
  }
  const devices = async (at?: number) =>
    (await t.kernel.intents.project({ projection: "devices", at, sees: () => true })).state;
  const free = { "x/y": { state: "free", claim: null } };
  const claimed = { "x/y": { state: "claimed", claim: { pid: 0, mode: "shared" } } };

  it("devices are there before anything was told of them, and as they were", async () => {
    const first = await publish("tool.done");
    const claim = await shared();
    expect(await devices()).toMatchObject(claimed);
    expect(await devices(first)).toMatchObject(free);
    const then = await t.kernel.events.head();
    await claim.end("released");
    expect(await devices()).toMatchObject(free);
    expect(await devices(then)).toMatchObject(claimed);
  });

  it("a device is held until the last claim of it has ended", async () => {
    const [one, other] = [await shared(), await shared()];
    await one.end("released");
    expect(await devices()).toMatchObject(claimed);
    await other.end("released");
    expect(await devices()).toMatchObject(free);
  });

  it("claims that a daemon left are told as released by the next, once, and its own are not", async () => {
    let nonces = 0;
    const claim = await shared();
    t = new TestKernel({ nonce: () => `next-${++nonces}` }, t.journal);
    const own = await shared();
    await t.kernel.intents.ready();
    const { id, device, mode, fence } = claim;
    const about = { claim: id, device, mode, fence, pid: 0, cause: "lost" };
    expect((await told("device.released")).map(({ data }) => data)).toEqual([about]);
    expect(await devices()).toMatchObject(claimed);
    await own.end("released");
    t = new TestKernel({ nonce: () => `next-${++nonces}` }, t.journal);
    await t.kernel.intents.ready();
    expect(await told("device.released")).toHaveLength(2);
  });

  it("a claim that a daemon left is held up to the event that tells its end, and free from there on", async () => {
    await shared();
    const then = await t.kernel.events.head();
    t = new TestKernel({ nonce: () => "next" }, t.journal);
    await t.kernel.intents.ready();
    const [{ seq } = { seq: 0 }] = await told("device.released");
    await shared();
    expect(await devices(then)).toMatchObject(claimed);
    expect(await devices(seq)).toMatchObject(free);
  });

  it("a device that is gone stays so when its claim ends", async () => {
    const [claim] = [await shared(), await shared()];
    await publish("device.gone", { ...t.kernel.hal.list()[0], state: "gone", claim: null });
    await claim.end("gone");
    expect(await devices(await publish("tool.done"))).toMatchObject({
      "x/y": { state: "gone", claim: null },
    });
  });

  it("a device that went or came while no daemon ran is told by the next, once", async () => {
    const sees = () => true;
    const ready = async (isThere: boolean): Promise<void> => {
      t = new TestKernel({}, t.journal);
      const about = { id: "cam0", kind: "camera", name: "cam0", driver: "frames" } as const;
      const identity = { ...about, modes: ["read" as const] };
      const open = () => Promise.reject(new Error("not opened here"));
      t.kernel.hal.add({ identity, isHarmless: true, meta: () => ({}), open, isThere: () => isThere });
      await t.kernel.intents.ready();
    };
    for (const isThere of [false, false, true, true]) await ready(isThere);
    const all = await readFrom(0);
    expect(all.map(({ event }) => event)).toEqual(["device.gone", "device.added"]);
    const state = async (at = 0) =>
      (await t.kernel.intents.project({ projection: "devices", at, sees })).state;
    expect(await state(all[0]?.seq)).toMatchObject({ cam0: { state: "gone" } });
    expect(await state(all[1]?.seq)).toMatchObject({ cam0: { state: "free" } });
  });

  it("events older than a week are compacted by themselves", async () => {
    await begin("first", { intentId: "f" });
    await t.kernel.intents.end("f", { outcome: "completed" });
    await t.clock.advance(8 * 24 * 3_600_000);
    await begin("second");
    expect((await readFrom(0)).map(({ event }) => event)).toEqual(["event.compacted", "intent.started"]);
  });
});
