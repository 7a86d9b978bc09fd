/** Programs run, and run again from what was recorded: the same, or the first difference is told. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Device } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import { type Fd, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { findLlmError, LlmError } from "../../abi/llm-error.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { Program } from "../../abi/program.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { TapeEntry } from "../../kernel/ports/tape.ts";
import { ByteDevice, MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { bytes, type TestKernel, testKernel, text } from "../../kernel/testing/test-kernel.ts";

/** Runs `program` as a process to its end; its records. */
async function record(program: Program, prepare: (t: TestKernel) => void = () => {}) {
  const t = testKernel({ version: "1.2.3" });
  prepare(t);
  t.programs.set("work", program);
  const pid = await t.init.spawn("work", null);
  await t.proc(pid).done.promise;
  await t.journal.sync();
  return { t, pid, records: t.journal.records.filter((each) => each.pid === pid) };
}

const passages = (records: readonly JournalRecord[]): TapeEntry[] =>
  records.flatMap(({ kind, body }) => (kind === "call.read" ? (body as { did: TapeEntry[] }).did : []));

const withFile = (t: TestKernel): ByteDevice => {
  const device = new ByteDevice();
  device.files.set("/a", bytes("grüße"));
  device.files.set("/b", new Uint8Array([0xff, 0, 1]));
  t.kernel.mount("/dev/bytes", device);
  return device;
};

const readTwo: Program = async (sys, { ctxId }) => {
  const read = async (name: string) => {
    const fd = await sys.open(`/dev/bytes/${name}`, 0);
    const found = await sys.read(fd, 100);
    await sys.close(fd);
    return found;
  };
  const [a, b] = await Promise.all([read("a"), read("b")]);
  await sys.appendMessage(ctxId, "assistant", text(a));
  const [random, account, today, now] = [sys.random(), sys.account(), sys.today(), sys.now()];
  sys.checkpoint({ b: [...b], random, account, today, now });
  await sys.appendMessage(ctxId, "assistant", text(await read("a")));
  sys.setResult("done");
  return EXIT.completed;
};

describe("a recording", () => {
  test("has what a program got from outside, in the order in which it came, and nothing of its own", async () => {
    const { records } = await record(readTwo, withFile);
    const names = passages(records).map(({ s }) => s);
    expect(names[0]).toBe("start");
    expect(names.filter((name) => name === "Open")).toHaveLength(3);
    expect(names).not.toContain("AppendMessage");
    const read = passages(records).filter(({ s }) => s === "Read");
    expect(read.map((each) => "r" in each && each.r)).toEqual([
      { $bytes: { text: "grüße" } },
      { $bytes: { base64: "/wAB" } },
      { $bytes: { text: "grüße" } },
    ]);
  });

  test("gives answers that come together one at a time: the program acts on each before it gets the next", async () => {
    const waiting: (() => void)[] = [];
    const pairs: Device = {
      name: "pairs",
      traffic: "byte",
      open: async () => ({
        read: async () => {
          const met = Promise.withResolvers<void>();
          waiting.push(met.resolve);
          if (waiting.length === 2) for (const meet of waiting.splice(0)) meet();
          await met.promise;
          return bytes("x");
        },
        write: async () => {},
        close: async () => {},
        stat: async () => ({ name: "pairs", size: 0, isDevice: true, devicePath: "/dev/pairs" }),
      }),
    };
    const program: Program = async (sys, { ctxId }) => {
      const fds = [await sys.open("/dev/pairs", 0), await sys.open("/dev/pairs", 0)];
      // one is acted on at once, the other only after many turns of its own
      const act = async (fd: Fd | undefined, turns: number): Promise<void> => {
        await sys.read(fd as Fd, 1);
        for (let n = 0; n < turns; n++) await Promise.resolve();
        await sys.appendMessage(ctxId, "assistant", `${turns} turns`);
      };
      await Promise.all([act(fds[0], 50), act(fds[1], 0)]);
      return EXIT.completed;
    };
    const { t, pid, records } = await record(program, (kernel) => kernel.kernel.mount("/dev/pairs", pairs));
    const said = records.flatMap(({ kind, body }) =>
      kind === "ctx.record" ? [(body as { content?: string }).content] : [],
    );
    expect(said).toEqual(["50 turns", "0 turns"]);
    expect((await t.kernel.replays.replay(pid)).outcome).toBe("same");
  });

  test("gives an answer once the programs have time again, and those behind it in order", async () => {
    const turns: (() => void)[] = [];
    const asked = Promise.withResolvers<void>();
    let isUsed = true;
    const next = (): Promise<void> | undefined => {
      if (!isUsed) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (turns.push(resolve) === 2) asked.resolve();
      return promise;
    };
    const got: string[] = [];
    const program: Program = async (sys) => {
      const open = async (name: string) => {
        const fd = await sys.open(`/dev/bytes/${name}`, 0);
        got.push(name);
        await sys.close(fd);
      };
      await Promise.all([open("a"), open("b")]);
      return EXIT.completed;
    };
    const t = testKernel({ version: "1.2.3", slices: { first: { next }, others: { next } } });
    withFile(t);
    t.programs.set("work", program);
    const pid = await t.init.spawn("work", null);
    await asked.promise;
    expect(got).toEqual([]);
    isUsed = false;
    for (const turn of turns.splice(0)) turn();
    await t.proc(pid).done.promise;
    expect(got).toEqual(["a", "b"]);
    expect((await t.kernel.replays.replay(pid)).outcome).toBe("same");
  });

  test("is written before what the program makes of it, in one record each", async () => {
    const { records } = await record(readTwo, withFile);
    const kinds = records.map(({ kind }) => kind).filter((kind) => kind !== "process.log");
    expect(kinds).toEqual([
      "process.spawned",
      "process.state",
      "call.read",
      "ctx.record",
      "call.read",
      "process.checkpoint",
      "call.read",
      "ctx.record",
      "process.exited",
    ]);
  });

  test("is not made of natives, nor of the kernel's own calls", async () => {
    const { t } = await record(async () => EXIT.completed);
    expect(t.journal.records.filter(({ kind, pid }) => kind === "call.read" && pid === PID_KERNEL)).toEqual(
      [],
    );
  });
});

describe("replay()", () => {
  test("runs the program again without a device, and finds nothing else", async () => {
    let device: ByteDevice | undefined;
    let opened = 0;
    const { t, pid } = await record(readTwo, (kernel) => {
      device = withFile(kernel);
    });
    const open = device!.open.bind(device);
    device!.open = (...args) => {
      opened++;
      return open(...args);
    };
    const report = await t.kernel.replays.replay(pid);
    expect(report).toEqual({
      pid,
      steps: 2,
      records: 4,
      runs: 1,
      recorded: ["1.2.3"],
      version: "1.2.3",
      outcome: "same",
    });
    expect(opened).toBe(0);
    expect(t.kernel.contexts.count).toBe(1);
  });

  test("shows the program the pictures of the user again, those of its intent included", async () => {
    const t = testKernel();
    const media = [{ type: "image", media_type: "image/png", data: "AAAA" }] as const;
    const shown: unknown[] = [];
    const look: Program = async (sys, { ctxId }) => {
      const message = await sys.recv();
      await sys.appendMessage(ctxId, "user", text(message.data), undefined, message.media);
      shown.push((await sys.buildPrompt(ctxId)).messages.map((each) => each.media));
      return EXIT.completed;
    };
    t.programs.set("look\n[image 1: png, 1 KB]", look);
    const pid = await t.init.spawn("look", null, { media });
    await t.init.send(pid, bytes("and this"), undefined, { media });
    await t.proc(pid).done.promise;
    expect((await t.kernel.replays.replay(pid)).outcome).toBe("same");
    expect(shown).toEqual([
      [media, media],
      [media, media],
    ]);
  });

  test("of a run that notes so much that its history is looked at meanwhile reaches for nothing", async () => {
    const steps = 300;
    const { t, pid } = await record(async (sys, { ctxId }) => {
      for (let step = 1; step <= steps; step++) {
        const fd = await sys.open("/dev/bytes/a", 0);
        await sys.appendMessage(ctxId, "assistant", text(await sys.read(fd, 100)));
        await sys.close(fd);
        sys.checkpoint({ step });
        sys.addToCheckpoint({ step });
        sys.log("info", `step ${step}`);
      }
      sys.setResult("done");
      return EXIT.completed;
    }, withFile);
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", steps });
  });

  test("of a position that was recorded with a message, or that the message failed to bring, finds it again", async () => {
    const program: Program = async (sys, { pid, ctxId }) => {
      const say = (to: Pid, state: unknown) =>
        sys.send(to, bytes("idle"), undefined, { withCheckpoint: state }).catch(() => sys.checkpoint(state));
      await say(pid, { place: 1 });
      await say(PID_KERNEL, { place: 2 });
      await sys.appendMessage(ctxId, "assistant", "done");
      return EXIT.completed;
    };
    const { t, pid, records } = await record(program);
    const places = records.filter(({ kind }) => kind === "process.checkpoint");
    expect(places.map(({ body }) => body)).toEqual([{ state: { place: 1 } }, { state: { place: 2 } }]);
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", records: 4 });
    const changed = async function* () {
      for (const each of records)
        yield each === places[0] ? { ...each, body: { state: { place: 3 } } } : each;
    };
    expect((await t.kernel.replays.replayRecords(changed)).difference).toMatchObject({
      seq: places[0]?.seq,
      what: "process.checkpoint",
    });
  });

  test("gives errors as they were, with their causes", async () => {
    const program: Program = async (sys, { ctxId }) => {
      const failure = await sys.open("/dev/model", 2).catch((error: unknown) => error);
      const { kind, status, retryAfterMs } = findLlmError(failure) ?? {};
      const missing = await sys.stat("/dev/nothing").catch((error: unknown) => codeOf(error));
      await sys.appendMessage(
        ctxId,
        "user",
        JSON.stringify([codeOf(failure), kind, status, retryAfterMs, missing]),
      );
      throw failure;
    };
    const { t, pid, records } = await record(program, ({ kernel }) => {
      const device = new ByteDevice();
      device.open = async () => {
        const message = "slow down";
        throw new LlmError({
          kind: "rate_limit",
          message,
          status: 429,
          retryAfterMs: 7,
          device: "/dev/model",
        });
      };
      kernel.mount("/dev/model", device);
    });
    expect(records.find(({ kind }) => kind === "ctx.record")?.body).toMatchObject({
      content: '["UNAVAILABLE","rate_limit",429,7,"NOT_FOUND"]',
    });
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", records: 2 });
  });

  test("waits where the program waited, and for as long as that counts", async () => {
    const program: Program = async (sys, { ctxId }) => {
      const before = sys.hasMail();
      await sys.delay(1_000);
      await sys.waitIfPaused();
      const { data } = await sys.recv();
      await sys.appendMessage(ctxId, "user", `${before} ${sys.hasMail()} ${text(data)}`);
      return EXIT.completed;
    };
    const t = testKernel();
    t.programs.set("work", program);
    const pid = await t.init.spawn("work", null);
    await t.init.signal(pid, SIGNALS.SIGPAUSE);
    await t.clock.advance(1_000);
    await t.init.send(pid, bytes("one"));
    await t.init.send(pid, bytes("two"));
    await t.init.signal(pid, SIGNALS.SIGRESUME);
    await t.proc(pid).done.promise;
    await t.journal.sync();
    expect(t.journal.bodies("ctx.record").map(({ content }) => content)).toEqual(["false true one"]);
    expect(passages(t.journal.records).map(({ s }) => s)).toContain("untilResumed");
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", records: 2 });
  });

  test.each([
    [SIGNALS.SIGTERM, "killed: SIGTERM"],
    [SIGNALS.SIGINT, "killed: SIGINT"],
    [SIGNALS.SIGKILL, "killed: SIGKILL"],
  ])("signal %i comes between the same two steps", async (signal, reason) => {
    const began = Promise.withResolvers<void>();
    const program: Program = async (sys, { ctxId }) => {
      await sys.appendMessage(ctxId, "assistant", "I wait.");
      sys.setResult("I wait.");
      began.resolve();
      try {
        await sys.delay(1_000_000, sys.ending);
      } catch {
        sys.checkpoint({ aborted: sys.ending.aborted });
      }
      return EXIT.completed;
    };
    const t = testKernel();
    t.programs.set("work", program);
    const pid = await t.init.spawn("work", null);
    await began.promise;
    await t.init.signal(pid, signal);
    const exit = await t.proc(pid).done.promise;
    await t.journal.sync();
    expect(exit.reason).toBe(reason);
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", steps: 1 });
  });

  test("a signal that ends it comes in the middle of a turn, before it asks for more", async () => {
    const t = testKernel();
    const started = Promise.withResolvers<Pid>();
    let isFirst = true;
    t.programs.set("work", async (sys) => {
      const pid = await started.promise;
      sys.hasMail();
      if (isFirst) void t.init.signal(pid, SIGNALS.SIGTERM);
      isFirst = false;
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      sys.ending.throwIfAborted();
      sys.random();
      await sys.delay(1_000_000, sys.ending);
      return EXIT.completed;
    });
    const pid = await t.init.spawn("work", null);
    started.resolve(pid);
    await t.proc(pid).done.promise;
    await t.journal.sync();
    expect(passages(t.journal.records).map(({ s }) => s)).not.toContain("random");
    expect((await t.kernel.replays.replay(pid)).difference).toBeUndefined();
  });

  test("of a life that was cut off before an input was recorded reaches for nothing in its place", async () => {
    const t = testKernel();
    const asked = Promise.withResolvers<void>();
    t.programs.set("work", async (sys, { ctxId }) => {
      await sys.appendMessage(ctxId, "assistant", "hi");
      await asked.promise;
      sys.mayDoAside();
      return new Promise(() => {});
    });
    const pid = await t.init.spawn("work", null);
    await t.journal.sync();
    t.programs.set("work", async (sys, { ctxId }) => {
      await sys.appendMessage(ctxId, "assistant", "hi");
      sys.mayDoAside();
      return new Promise(() => {});
    });
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same" });
  });

  test("of a process that runs goes as far as is recorded, and leaves it alone", async () => {
    const t = testKernel();
    withFile(t);
    const { pid, sys, end, start } = await t.start();
    await sys.appendMessage(
      start.ctxId,
      "assistant",
      text(await sys.stat("/dev/bytes/a").then(() => bytes("hi"))),
    );
    const program = t.programs.get("work 1")!;
    t.programs.set("work 1", async (own, { ctxId }) => {
      await own.stat("/dev/bytes/a");
      await own.appendMessage(ctxId, "assistant", "hi");
      return new Promise(() => {});
    });
    expect(await t.kernel.replays.replay(pid)).toMatchObject({ outcome: "same", steps: 1, records: 1 });
    t.programs.set("work 1", program);
    expect(t.proc(pid).state).toBe("running");
    end();
    await t.proc(pid).done.promise;
  });

  test("of a run that was cut off takes what it comes to beyond its records for no difference", async () => {
    const { t, records } = await record(readTwo, withFile);
    for (let kept = 3; kept < records.length; kept++) {
      const cut = async function* () {
        yield* records.slice(0, kept);
      };
      expect(await t.kernel.replays.replayRecords(cut), `${kept} records`).toMatchObject({ outcome: "same" });
    }
  });

  test("stops at the step it is to stop at", async () => {
    const { t, pid } = await record(readTwo, withFile);
    expect(await t.kernel.replays.replay(pid, { to: 1 })).toMatchObject({ outcome: "same", steps: 1 });
    expect(await t.kernel.replays.replay(pid, { to: 0 })).toMatchObject({ outcome: "same", steps: 0 });
  });

  test("is UNAVAILABLE in words for what was not recorded, and NOT_FOUND for nobody", async () => {
    const { t, pid, records } = await record(readTwo, withFile);
    const kept = records.filter(({ kind }) => kind !== "call.read");
    const old = async function* () {
      yield* kept;
    };
    expect(await t.kernel.replays.replayRecords(old)).toMatchObject({
      outcome: "incomplete",
      reason: "it ran under a version of crux that did not keep what its calls gave",
      steps: 0,
    });
    const cut = async function* () {
      for (const each of records)
        yield each.kind === "ctx.record" ? { ...each, body: { omitted: "too large" } } : each;
    };
    expect((await t.kernel.replays.replayRecords(cut)).reason).toMatch(/was not kept: too large/);
    await expect(t.kernel.replays.replay((pid + 50) as typeof pid)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(t.kernel.replays.replayRecords(async function* () {})).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});

describe("the first difference", () => {
  const changed = async (program: Program) => {
    const { t, pid, records } = await record(readTwo, withFile);
    t.programs.set("work", program);
    const seq = (kind: string, nth = 0) => records.filter((each) => each.kind === kind)[nth]?.seq;
    return { report: await t.kernel.replays.replay(pid), seq };
  };

  test("is a call that the program does not make any more", async () => {
    const { report, seq } = await changed(async (sys) => {
      await sys.open("/dev/bytes/c", 0);
      return EXIT.completed;
    });
    expect(report).toMatchObject({ outcome: "differs", steps: 0 });
    expect(report.difference).toMatchObject({ seq: seq("call.read"), what: "call" });
    expect(report.difference?.expected).toMatch(/^Open \(arguments /);
    expect(report.difference?.got).toMatch(/^Open \{"path":"\/dev\/bytes\/c","flags":0\}/);
  });

  test("is another message, shown from shortly before it differs", async () => {
    const { report, seq } = await changed((sys, start) => {
      const said: typeof sys.appendMessage = (ctxId, role, content) =>
        sys.appendMessage(ctxId, role, `${content}!`);
      const changedSys = new Proxy(sys, {
        get: (own, key) => {
          if (key === "appendMessage") return said;
          const value: unknown = Reflect.get(own, key);
          return typeof value === "function" ? value.bind(own) : value;
        },
      });
      return readTwo(changedSys, start);
    });
    expect(report.difference).toEqual({
      seq: seq("ctx.record"),
      what: "ctx.record",
      expected: '{"role":"assistant","content":"grüße"}',
      got: '{"role":"assistant","content":"grüße!"}',
    });
  });

  test("is another result, another exit, an end that came too early, and one that does not come", async () => {
    const { report, seq } = await changed(async (sys, start) => {
      const exit = await readTwo(sys, start);
      sys.setResult("other");
      return exit;
    });
    expect(report.difference).toMatchObject({ seq: seq("process.exited"), what: "exit" });
    const other = await changed(async (sys, start) => {
      await readTwo(sys, start);
      return { code: 3, reason: "other", kind: "done" };
    });
    expect(other.report.difference).toMatchObject({ seq: seq("process.exited"), what: "exit" });
    const early = await changed(async () => EXIT.completed);
    expect(early.report.difference).toMatchObject({ seq: seq("call.read"), got: "the program has ended" });
    const more = await changed(async (sys, start) => {
      await readTwo(sys, start);
      await sys.stat("/more");
      return EXIT.completed;
    });
    expect(more.report.difference).toMatchObject({ seq: seq("process.exited"), expected: "the end" });
  });

  test("is an input that is not asked for, or not recorded", async () => {
    const { report, seq } = await changed(async (sys, start) => {
      sys.random = () => 0.5;
      return readTwo(sys, start);
    });
    expect(report.difference).toMatchObject({ seq: seq("call.read", 1), what: "input" });
    const more = await changed(async (sys, start) => {
      if (sys.isPaused()) return EXIT.completed;
      return readTwo(sys, start);
    });
    expect(more.report.difference).toMatchObject({ seq: more.seq("call.read"), what: "input" });
  });
});

/** Everything in a recording that can be changed one by one: what came, what was asked, what was done, and their order. */
describe("a changed recording", () => {
  const replayed = async (t: TestKernel, records: readonly unknown[]) =>
    t.kernel.replays.replayRecords(async function* () {
      yield* records as JournalRecord[];
    });

  test("is told apart at the record that was changed, or where its consequence shows", async () => {
    const { t, records } = await record(readTwo, withFile);
    expect((await replayed(t, records)).outcome).toBe("same");
    let tried = 0;
    for (const [at, original] of records.entries()) {
      for (const { body, isConsequence } of changesOf(original)) {
        tried++;
        const report = await replayed(t, records.with(at, { ...original, body }));
        const words = `${original.kind} ${original.seq}: ${JSON.stringify(body)}`;
        expect(report.outcome, words).toBe("differs");
        const seq = report.difference?.seq ?? 0;
        if (isConsequence) expect(seq, words).toBeGreaterThanOrEqual(original.seq);
        else expect(seq, words).toBe(original.seq);
      }
    }
    expect(tried).toBeGreaterThan(20);
  });

  test("in which two neighbours change places is told apart", async () => {
    const { t, records } = await record(readTwo, withFile);
    // an input is the same before and after what is the program's own
    const isMoved = ({ kind, body }: JournalRecord) =>
      kind === "ctx.record" ||
      (kind === "call.read" && (body as { did: TapeEntry[] }).did.some((passage) => "a" in passage));
    const places = records.flatMap((each, at) => (isMoved(each) ? [at] : []));
    expect(places.length).toBeGreaterThan(3);
    for (const at of places.filter((each) => places.includes(each + 1))) {
      const [a, b] = [records[at]!, records[at + 1]!];
      const swapped = records.with(at, { ...b, seq: a.seq }).with(at + 1, { ...a, seq: b.seq });
      const report = await replayed(t, swapped);
      expect(["differs", "incomplete"], `${a.kind} ${a.seq}`).toContain(report.outcome);
    }
  });
});

describe("a hostile recording", () => {
  const HOSTILE = [
    null,
    0,
    -1,
    "",
    "x",
    [],
    {},
    [null],
    { s: "start", r: null },
    { v: 1 },
    { $bytes: 7 },
    { $error: [] },
  ];

  /** `value` with one place in it replaced, the `at`-th of all. */
  function spoilt(value: unknown, at: { left: number }, by: unknown): unknown {
    if (at.left-- === 0) return by;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => spoilt(each, at, by));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoilt(each, at, by)]));
  }

  test("is the same, differs, or is refused in words; whatever is in it, no device hears of it", async () => {
    let device: ByteDevice | undefined;
    const { t, records } = await record(readTwo, (kernel) => {
      device = withFile(kernel);
    });
    const open = vi.spyOn(device as ByteDevice, "open");
    const before = t.kernel.table.size;
    const told = { same: 0, differs: 0, incomplete: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.nat(records.length - 1),
        fc.nat(40),
        fc.constantFrom(...HOSTILE),
        async (n, at, by) => {
          const original = records[n] as JournalRecord;
          const body = spoilt(structuredClone(original.body), { left: at }, by);
          const all = records.with(n, { ...original, body });
          try {
            const report = await t.kernel.replays.replayRecords(async function* () {
              yield* all;
            });
            told[report.outcome]++;
          } catch (error) {
            expect([codeOf(error), (error as Error).message]).toEqual([
              "INVALID",
              expect.stringContaining("not of the form"),
            ]);
            told.refused++;
          }
          expect(open).not.toHaveBeenCalled();
        },
      ),
      { numRuns: 400 },
    );
    for (const [outcome, count] of Object.entries(told)) expect(count, outcome).toBeGreaterThan(0);
    expect(t.kernel.table.size).toBe(before);
  });

  test("is given up when nobody waits for it, already while its end is looked for", async () => {
    const { t, records } = await record(readTwo, withFile);
    const gone = new AbortController();
    let read = 0;
    const endless = async function* () {
      for (;;) {
        if (++read === 10) gone.abort();
        yield records[0] as JournalRecord;
      }
    };
    await expect(t.kernel.replays.replayRecords(endless, { signal: gone.signal })).rejects.toThrow();
    expect(read).toBe(10);
  });
});

interface Change {
  readonly body: unknown;
  /** It shows where the program makes something of it. */
  readonly isConsequence: boolean;
}

function changesOf({ kind, body }: JournalRecord): Change[] {
  if (kind === "ctx.record")
    return [{ body: { ...(body as object), content: "other" }, isConsequence: false }];
  if (kind === "process.checkpoint") return [{ body: { state: 7 }, isConsequence: false }];
  if (kind === "process.exited")
    return [{ body: { ...(body as object), result: "other" }, isConsequence: false }];
  if (kind !== "call.read") return [];
  const { did } = body as { did: readonly TapeEntry[] };
  return did.flatMap((passage, at): Change[] => {
    if (passage.s === "start") return [];
    const changed = (other: object): unknown => ({
      did: did.with(at, { ...passage, ...other } as TapeEntry),
    });
    const changes: Change[] = [{ body: { did: did.toSpliced(at, 1) }, isConsequence: true }];
    if ("a" in passage)
      changes.push({ body: changed({ a: "AAAAAAAAAAAAAAAAAAAAAA" }), isConsequence: false });
    if ("n" in passage) changes.push({ body: changed({ n: 99 }), isConsequence: false });
    if (passage.s === "Read" || passage.s === "Open" || "n" in passage)
      changes.push({
        body: changed({ r: passage.s === "Open" ? 99 : { $bytes: { text: "other" } } }),
        isConsequence: true,
      });
    return changes;
  });
}

test("a process that ran threads is not replayable from there on, and says so", async () => {
  const { t, pid } = await record(async (sys, { ctxId }) => {
    await sys.appendMessage(ctxId, "assistant", "one");
    const tid = await sys.spawnThread("second loop");
    await sys.appendMessage(ctxId, "assistant", "two");
    await sys.cancelThread(tid);
    await sys.joinThread(tid);
    return EXIT.completed;
  });
  expect(await t.kernel.replays.replay(pid)).toMatchObject({
    outcome: "incomplete",
    reason: "it ran threads",
  });
});

test("threads that a tool began are told of before anything that they did", async () => {
  const tool = new MessageDevice("thread");
  tool.script.effects = [{ kind: "state", path: "/proc/self/threads" }];
  tool.script.act = async (_, { sys }) => void (await sys.joinThread(await sys.spawnThread("second loop")));
  const program: Program = async (sys, { ctxId }) => {
    await sys.write(await sys.open("/bin/thread", 2), bytes("{}"));
    await sys.appendMessage(ctxId, "assistant", "one");
    return EXIT.completed;
  };
  const { t, pid } = await record(program, (kernel) => {
    kernel.kernel.mount("/bin/thread", tool);
    kernel.programs.set("second loop", async (sys, { ctxId }) => {
      await sys.appendMessage(ctxId, "assistant", "two");
      return EXIT.completed;
    });
  });
  expect(await t.kernel.replays.replay(pid)).toMatchObject({
    outcome: "incomplete",
    reason: "it ran threads",
  });
});
