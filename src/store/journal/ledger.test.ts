import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asCallId, asPid, asProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalDraft } from "../../kernel/ports/journal.ts";
import { anyChar } from "../../lib/testing/any-char.ts";
import { openClerk } from "../sqlite/open-database.ts";
import { type MakeScribe, openJournal } from "../sqlite/open-journal.ts";
import { HandClock } from "../testing.ts";
import { DirectScribe } from "./testing/direct-scribe.ts";
import { MemoryDisk, openMemoryJournal } from "./testing/memory.ts";

const direct: MakeScribe = ({ dir, identity, maxBytes }, onNotice) =>
  new DirectScribe(openClerk(dir, identity, { maxBytes, onNotice, mono: () => 0 }));

const procOf = (n: number) => asProcUuid(`${n}0000000-0000-4000-8000-000000000000`);
const small = fc.integer({ min: 1, max: 3 });
const of = (kind: JournalDraft["kind"], body: fc.Arbitrary<unknown>, call?: fc.Arbitrary<number>) =>
  fc.tuple(small, body, call ?? fc.constant(0)).map(
    ([n, own, id]): JournalDraft => ({
      proc: procOf(n),
      pid: asPid(n),
      kind,
      v: 1,
      body: own,
      ...(id === 0 ? {} : { call: asCallId(`c_${id}`) }),
    }),
  );
const drafts = fc.oneof(
  of(
    "process.spawned",
    fc.record({
      kind: fc.constantFrom("agent", "native"),
      intent: fc.string({ unit: anyChar }),
      cwd: fc.string({ unit: anyChar }),
    }),
  ),
  of("process.exited", fc.oneof(fc.record({ code: fc.double(), reason: fc.string() }), fc.anything())),
  of("process.recovered", fc.record({ resumed: fc.boolean() })),
  of("process.described", fc.record({ title: fc.string(), kept: fc.boolean() }, { requiredKeys: [] })),
  of("process.state", fc.nat()),
  of("process.reaped", fc.constant({})),
  of("ctx.record", fc.record({ role: fc.constantFrom("user", "assistant") })),
  of("signal", fc.record({ paused: fc.boolean(), ranMs: fc.double() }, { requiredKeys: [] })),
  of("acct.settle", fc.record({ used: fc.oneof(fc.double(), fc.string()) })),
  of("call.intent", fc.constant({}), small),
  of("call.result", fc.record({ cost: fc.record({ tokens: fc.oneof(fc.nat(), fc.double()) }) }), small),
  of("mail.put", fc.record({ seq: fc.oneof(fc.nat(5), fc.double()) })),
  of("mail.done", fc.record({ seq: fc.nat(5) })),
  of("group.join", fc.record({ group: fc.oneof(fc.nat(3), fc.string()) })),
  of("group.leave", fc.record({ group: fc.nat(3) })),
  of("process.forked", fc.record({ from: small.map(procOf), at: fc.nat(6) })),
);

/** All that a journal answers, with hashes left to read(), which checks them. */
async function answersOf(journal: Journal): Promise<unknown> {
  const histories = await Promise.all([1, 2, 3].map((n) => journal.read(procOf(n), 1, 256)));
  const bare = (records: readonly { lsn: number }[]) => records.map(({ lsn }) => lsn);
  return {
    histories: histories.map((records) => records.map(({ at: _at, epoch: _epoch, ...record }) => record)),
    rows: await journal.rows({}),
    live: await journal.rows({ live: true }),
    unfinished: bare(await journal.unfinished()),
    states: bare(await journal.liveStates()),
    mail: bare(await journal.liveMail()),
    groups: bare(await journal.liveGroups()),
    endedMail: bare(await journal.endedMail()),
    open: bare(await journal.openCalls()),
    processes: await Promise.all([1, 2, 3].map((n) => journal.processOf(asPid(n)))),
    highest: [journal.highestPid(), journal.highestMessage()],
  };
}

test("memory and SQLite answer the same after any records, and SQLite so after it was opened again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(drafts, { maxLength: 4 }), { maxLength: 12 }), async (batches) => {
      const dir = mkdtempSync(join(tmpdir(), "crux-ledger-"));
      const clock = new HandClock();
      const memory = openMemoryJournal(new MemoryDisk(), clock);
      let sqlite = await openJournal({ dir, clock }, direct);
      try {
        for (const batch of batches) {
          const [a, b] = await Promise.allSettled([memory.append(batch), sqlite.append(batch)]);
          expect(b.status).toBe(a.status);
          if (a.status === "fulfilled" && b.status === "fulfilled") expect(b.value).toEqual(a.value);
        }
        expect(sqlite.state).toEqual({ state: "well" });
        const answers = await answersOf(memory);
        expect(await answersOf(sqlite)).toEqual(answers);
        await sqlite.close();
        sqlite = await openJournal({ dir, clock }, direct);
        expect(await answersOf(sqlite)).toEqual(answers);
      } finally {
        await Promise.all([memory.close(), sqlite.close()]);
        rmSync(dir, { recursive: true });
      }
    }),
    { numRuns: 100 },
  );
});
