/** What records come to, and that a snapshot with what followed it comes to the same. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asPid, asProcUuid, type ProcUuid } from "../../abi/ids.ts";
import { spentFacet } from "../../kernel/account/facet.ts";
import { contextFacet } from "../../kernel/context/facet.ts";
import { LOADING } from "../../kernel/facts/intents.ts";
import { packRefs, unpackRefs } from "../../kernel/facts/refs.ts";
import { groupsFacet, mailFacet } from "../../kernel/ipc/facets.ts";
import { logFacet } from "../../kernel/log/facet.ts";
import type { JournalDraft, JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import { ranMs, runTimeFacet } from "../../kernel/process/facets/run-time-facet.ts";
import { MemoryJournal } from "../../kernel/testing/memory-journal.ts";
import { History } from "./history.ts";
import { readContents, readHistory, readLines, readMail } from "./history-reader.ts";

const [A, B, C] = ["a", "b", "c"].map((letter) =>
  asProcUuid(`00000000-0000-4000-8000-00000000000${letter}`),
) as [ProcUuid, ProcUuid, ProcUuid];

const draft = (proc: ProcUuid, kind: RecordKind, body: unknown, v = 1): JournalDraft => ({
  proc,
  pid: asPid(1),
  kind,
  v,
  body,
});

const SPAWNED = { ppid: 0, kind: "agent", intent: "work" };

const MOVED = { layer: "full", trigger: "auto", before: 9, after: 5 } as const;

/** Any record that may follow a spawn. */
const anyRecord = fc.oneof(
  fc.tuple(
    fc.constant("ctx.record" as const),
    fc.record({ role: fc.constantFrom("user", "assistant", "tool"), content: fc.string() }),
  ),
  fc.tuple(
    fc.constant("ctx.record" as const),
    fc.record({ role: fc.constant("user"), content: fc.string(), replaces: fc.constant(1) }),
  ),
  fc.tuple(fc.constant("ctx.record" as const), fc.record({ system_prompt: fc.string() })),
  fc.tuple(
    fc.constant("ctx.record" as const),
    fc.record({ role: fc.constant("user"), content: fc.string(), cid: fc.constant(7) }),
  ),
  fc.tuple(
    fc.constant("ctx.move" as const),
    fc.record(
      {
        ...{ put: fc.constantFrom(null, { role: "user", content: "summary" }), keep: fc.constant([]) },
        ...{ clears: fc.constant([]), tailFrom: fc.integer({ min: 1, max: 9 }), cid: fc.constant(7) },
        boundary: fc.constantFrom(...(["micro", "full"] as const).map((layer) => ({ ...MOVED, layer }))),
      },
      { requiredKeys: ["keep", "clears", "tailFrom", "boundary"] },
    ),
  ),
  fc.tuple(fc.constant("ctx.move" as const), fc.record({ undo: fc.constant(true) })),
  fc.tuple(fc.constant("process.checkpoint" as const), fc.record({ state: fc.nat(9) })),
  fc.tuple(fc.constant("process.checkpoint" as const), fc.record({ part: fc.nat(9) })),
  fc.tuple(
    fc.constant("call.intent" as const),
    fc.record({ device: fc.constantFrom("/bin/bash", "/dev/llm/x") }),
  ),
  fc.tuple(fc.constant("call.intent" as const), fc.constant(LOADING)),
  fc.tuple(
    fc.constantFrom("call.result" as const, "call.unknown" as const),
    fc.record({ cost: fc.record({ tokens: fc.nat(99) }) }),
  ),
  fc.tuple(fc.constant("call.read" as const), fc.record({ s: fc.string() })),
  fc.tuple(fc.constant("acct.settle" as const), fc.record({ used: fc.nat(99) })),
  fc.tuple(
    fc.constant("mail.put" as const),
    fc.record({ seq: fc.nat(3), from: fc.constant(1), to: fc.constant(2), data: fc.constant("aGk=") }),
  ),
  fc.tuple(fc.constant("mail.done" as const), fc.record({ seq: fc.nat(3) })),
  fc.tuple(
    fc.constant("group.join" as const),
    fc.record({ group: fc.nat(3), name: fc.constant("n"), maker: fc.constant(0) }),
  ),
  fc.tuple(fc.constant("group.leave" as const), fc.record({ group: fc.nat(3) })),
  fc.tuple(fc.constant("process.log" as const), fc.record({ message: fc.string() })),
  fc.tuple(
    fc.constant("signal" as const),
    fc.record({
      signal: fc.integer({ min: 1, max: 5 }),
      disposition: fc.constantFrom("default", "handler"),
      paused: fc.boolean(),
      ranMs: fc.nat(99),
    }),
  ),
  fc.tuple(fc.constant("process.recovered" as const), fc.record({ epoch: fc.nat(3) })),
);
const anyHistory = fc.array(fc.tuple(anyRecord, fc.nat(50)), { maxLength: 60 });

type Steps = readonly (readonly [readonly [RecordKind, unknown], number])[];

async function keep(journal: MemoryJournal, proc: ProcUuid, steps: Steps): Promise<void> {
  for (const [[kind, body], ms] of steps) {
    journal.now += ms;
    await journal.append([draft(proc, kind, body)]);
  }
}

async function started(): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  await journal.append([draft(A, "process.spawned", SPAWNED)]);
  return journal;
}

describe("a snapshot", () => {
  test("with what followed it folds as all records do, wherever it was made", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.nat(60), async (steps, at) => {
        const journal = await started();
        await keep(journal, A, steps);
        const whole = await readHistory(journal, A);
        const early = await readHistory(journal, A, 1 + Math.min(at, steps.length));
        // as it comes back from the disk
        await journal.saveSnapshot(A, early.lastSeq, JSON.parse(JSON.stringify(early.state)));
        const again = await readHistory(journal, A);
        expect(again.state).toEqual(whole.state);
        expect(await readContents(journal, again)).toEqual(await readContents(journal, whole));
      }),
    );
  });

  test("spares the records before it", async () => {
    const journal = await started();
    for (let n = 0; n < 2_000; n++) await journal.append([draft(A, "call.read", { s: "Read" })]);
    await journal.append([draft(A, "ctx.record", { role: "assistant", content: "said" })]);
    const { lastSeq, state } = await readHistory(journal, A);
    await journal.saveSnapshot(A, lastSeq, state);
    journal.pagesRead = 0;
    const contents = await readContents(journal, await readHistory(journal, A));
    expect(contents.messages.map(({ content }) => content)).toEqual(["work", "said"]);
    // what followed it, and one for all messages, however far apart they lie
    expect(journal.pagesRead).toBe(2);
  });

  test("of 60 MB, all but the newest summarised, costs what is in view", async () => {
    const journal = await started();
    const content = "x".repeat(100_000);
    for (let n = 0; n < 600; n++)
      await journal.append([draft(A, "ctx.record", { role: "assistant", content })]);
    const put = { role: "user", content: "summary" };
    await journal.append([
      draft(A, "ctx.move", { put, keep: [], clears: [], tailFrom: 602, boundary: MOVED }),
    ]);
    await journal.append([draft(A, "ctx.record", { role: "user", content: "newest" })]);
    const { lastSeq, state } = await readHistory(journal, A);
    await journal.saveSnapshot(A, lastSeq, state);
    let chars = 0;
    const measured = async (records: Promise<readonly JournalRecord[]>) => {
      chars += JSON.stringify(await records).length;
      return records;
    };
    const reading: Pick<MemoryJournal, "read" | "readAt" | "snapshot"> = {
      read: (proc, from, limit) => measured(journal.read(proc, from, limit)),
      readAt: (proc, seqs) => measured(journal.readAt(proc, seqs)),
      snapshot: (proc, atMost) => journal.snapshot(proc, atMost),
    };
    const { messages } = await readContents(reading, await readHistory(reading, A));
    expect(messages.map((message) => message.content)).toEqual(["summary", "newest"]);
    expect(JSON.stringify(state).length + chars).toBeLessThan(20_000);
  });

  test.each([
    ["of another form", { v: 2 }],
    ["that is nothing", null],
    ["of another place", { v: 1, lastSeq: 7 }],
  ])("%s is skipped for the one before it", async (_what, bad) => {
    const journal = await started();
    await keep(journal, A, [[["ctx.record", { role: "user", content: "more" }], 0]]);
    const { lastSeq, state } = await readHistory(journal, A);
    await journal.saveSnapshot(A, lastSeq, state);
    await journal.append([draft(A, "ctx.record", { role: "user", content: "last" })]);
    await journal.saveSnapshot(A, 3, bad);
    const { messages } = await readContents(journal, await readHistory(journal, A));
    expect(messages.map(({ content }) => content)).toEqual(["work", "more", "last"]);
  });

  test("holds no words", async () => {
    const journal = await started();
    const SECRET = "x".repeat(100);
    await keep(journal, A, [
      [["ctx.record", { role: "user", content: SECRET }], 0],
      [["ctx.record", { system_prompt: SECRET }], 0],
      [["process.checkpoint", { state: SECRET }], 0],
      [["process.checkpoint", { part: SECRET }], 0],
      [["process.log", { message: SECRET }], 0],
      [["mail.put", { seq: 1, data: SECRET }], 0],
    ]);
    expect(JSON.stringify((await readHistory(journal, A)).state)).not.toContain(SECRET);
  });
});

describe("a fork", () => {
  test("remembers what its origin did up to its place, and nothing else of it; forks of forks too", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, anyHistory, fc.nat(60), fc.nat(60), async (first, second, n, m) => {
        const journal = await started();
        await keep(journal, A, first);
        const at = 1 + Math.min(n, first.length);
        await journal.append([
          draft(B, "process.forked", { from: A, at }),
          draft(B, "process.spawned", SPAWNED),
        ]);
        const [origin, fork] = [await readHistory(journal, A, at), await readHistory(journal, B)];
        expect(await readContents(journal, fork)).toEqual(await readContents(journal, origin));
        expect(fork.of(contextFacet).steps).toBe(origin.of(contextFacet).steps);
        const empty = [mailFacet, groupsFacet].map((facet) => fork.of<Map<number, unknown>>(facet).size);
        expect([...empty, fork.of(logFacet), fork.of(spentFacet).tokens]).toEqual([0, 0, [], 0]);
        await keep(journal, B, second);
        const then = 2 + Math.min(m, second.length);
        await journal.append([
          draft(C, "process.forked", { from: B, at: then }),
          draft(C, "process.spawned", SPAWNED),
        ]);
        expect(await readContents(journal, await readHistory(journal, C))).toEqual(
          await readContents(journal, await readHistory(journal, B, then)),
        );
      }),
    );
  });

  test("of what is not there any more is INTERNAL, and says which record", async () => {
    const journal = await started();
    await journal.append([
      draft(B, "process.forked", { from: A, at: 9 }),
      draft(B, "process.spawned", SPAWNED),
    ]);
    await expect(readHistory(journal, B)).rejects.toMatchObject({
      code: "INTERNAL",
      message: `record 2 of ${A} is missing`,
    });
  });
});

describe("readHistory()", () => {
  test("counts replies of the model as steps, and results of tools, and skips what only replay reads", async () => {
    const journal = await started();
    await keep(journal, A, [
      [["ctx.record", { role: "assistant", content: "one" }], 0],
      [["call.read", { omitted: "too large" }], 0],
      [["ctx.record", { role: "tool", content: "r", tool_call_id: "t" }], 0],
      [["ctx.record", { role: "assistant", content: "two" }], 0],
    ]);
    expect((await readHistory(journal, A)).of(contextFacet)).toMatchObject({ steps: 2, toolCalls: 1 });
  });

  test("knows how long it ran: neither pauses nor the time between two daemons count", async () => {
    const journal = await started();
    await keep(journal, A, [
      [["process.log", { message: "a" }], 100],
      [["signal", { paused: true, ranMs: 110 }], 10],
      [["signal", { paused: false, ranMs: 110 }], 5_000],
      [["process.log", { message: "b" }], 40],
      [["process.recovered", { epoch: 2 }], 9_000],
      [["process.log", { message: "c" }], 7],
    ]);
    expect(ranMs((await readHistory(journal, A)).of(runTimeFacet))).toBe(157);
  });

  test("gives mail and the newest lines whole", async () => {
    const journal = await started();
    await keep(journal, A, [
      [["mail.put", { seq: 4, from: 1, to: 2, data: "aGk=" }], 0],
      [["mail.put", { seq: 5, from: 1, to: 2, data: "aGk=" }], 0],
      [["mail.done", { seq: 4 }], 0],
      ...Array.from({ length: 300 }, (_, n) => [["process.log", { message: `${n}` }], 0] as const),
    ] as Steps);
    const history = await readHistory(journal, A);
    expect(
      (await readMail(journal, history)).map(({ seq, data }) => [seq, Buffer.from(data).toString()]),
    ).toEqual([[5, "hi"]]);
    const lines = await readLines(journal, history);
    expect([lines.length, lines[0]?.message, lines.at(-1)?.message]).toEqual([256, "44", "299"]);
  });

  test.each([
    ["of another version", draft(A, "ctx.record", {}, 2), /record 2 \(ctx.record\) has version 2/],
    ["that was too large", draft(A, "ctx.record", { omitted: "too large" }), /was not kept: too large/],
  ])("refuses a record %s", async (_what, record, words) => {
    const journal = await started();
    await journal.append([record]);
    await expect(readHistory(journal, A)).rejects.toThrow(words);
  });

  test("refuses a damaged history", async () => {
    const journal = await started();
    await keep(journal, A, [[["ctx.record", { role: "user", content: "x" }], 0]]);
    journal.damaged.set(A, 2);
    await expect(readHistory(journal, A)).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

test("packRefs() and unpackRefs() undo each other, and runs are short", () => {
  const refs = fc.array(fc.record({ proc: fc.constantFrom(A, B), seq: fc.integer({ min: 1, max: 20 }) }));
  fc.assert(
    fc.property(refs, (all) => {
      expect(unpackRefs(packRefs(all))).toEqual(all);
    }),
  );
  const many = Array.from({ length: 1_000 }, (_, n) => ({ proc: A, seq: n + 1 }));
  expect(packRefs(many)).toEqual([{ proc: A, seqs: [[1, 1_000]] }]);
  expect(History.from(A, new History(A).state).state).toEqual(new History(A).state);
});
