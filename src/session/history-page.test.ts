import { expect, test } from "vitest";
import { asProcUuid } from "../abi/ids.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import { pageOf } from "./history-page.ts";

const ORIGIN = asProcUuid("00000000-0000-4000-8000-000000000001");
const FORK = asProcUuid("00000000-0000-4000-8000-000000000002");

type Draft = readonly [kind: string, body: unknown];

/** What each process has on record, from 1 on. */
function journalOf(histories: ReadonlyMap<unknown, readonly Draft[]>): Pick<Journal, "read"> {
  return {
    read: async (proc, from, limit) =>
      (histories.get(proc) ?? [])
        .map(
          ([kind, body], index) =>
            ({ proc, seq: index + 1, kind, v: 1, body, at: 0 }) as unknown as JournalRecord,
        )
        .slice(from - 1, from - 1 + (limit ?? Number.POSITIVE_INFINITY)),
  };
}

const said = (role: string, content: string): Draft => ["ctx.record", { role, content }];

test("pageOf() of a fork goes on in its origin, and has the intent once", async () => {
  const origin: Draft[] = [
    ["process.spawned", { intent: "fix it" }],
    said("assistant", "one"),
    said("assistant", "two"),
  ];
  const fork: Draft[] = [
    ["process.forked", { from: ORIGIN, at: 2 }],
    ["process.spawned", { intent: "fix it" }],
    said("user", "another way"),
  ];
  const histories = new Map([
    [ORIGIN, origin],
    [FORK, fork],
  ]);
  const { items, next } = await pageOf(journalOf(histories), { proc: FORK, lastSeq: 3 }, { limit: 10 });
  expect(items.map(({ role, text }) => `${role}: ${text}`)).toEqual([
    "user: fix it",
    "assistant: one",
    "user: another way",
  ]);
  expect(next).toBeUndefined();
});

test("pageOf() with words has only the messages with them, and goes on where it stopped", async () => {
  const drafts = Array.from({ length: 20_000 }, (_, n) =>
    said("user", n % 9_000 === 5 ? `The Needle ${n}` : `m${n}`),
  );
  const journal = journalOf(new Map([[ORIGIN, drafts]]));
  const found: string[] = [];
  let before: string | undefined;
  let pages = 0;
  do {
    const wish = { limit: 1, text: "needle", ...(before === undefined ? {} : { before }) };
    const page = await pageOf(journal, { proc: ORIGIN, lastSeq: drafts.length }, wish);
    found.push(...page.items.map(({ text }) => text));
    before = page.next;
    pages++;
  } while (before !== undefined);
  expect(found).toEqual(["The Needle 18005", "The Needle 9005", "The Needle 5"]);
  // each page looks at a bounded part of the history
  expect(pages).toBeGreaterThan(3);
});

test("pageOf() shows the directive of a called fork once, without what every fork is told, and leaves the record as it is", async () => {
  const content = "<fork-boilerplate>\nYou are a fork.\n</fork-boilerplate>\n\ndig left";
  const fork: Draft[] = [
    ["process.forked", { from: ORIGIN, at: 1 }],
    ["process.spawned", { intent: "dig left" }],
    [
      "ctx.record",
      { role: "assistant", content: "", blocks: [{ type: "tool_use", id: "t", name: "agent", input: {} }] },
    ],
    ["ctx.record", { role: "tool", content: "goes on elsewhere", tool_call_id: "t" }],
    said("user", content),
    said("assistant", "found"),
  ];
  const histories = new Map([
    [ORIGIN, [["process.spawned", { intent: "split" }]] as Draft[]],
    [FORK, fork],
  ]);
  const { items } = await pageOf(journalOf(histories), { proc: FORK, lastSeq: 6 }, { limit: 10 });
  expect(items.map(({ role, text, calls }) => [role, text, ...calls])).toEqual([
    ["user", "split"],
    ["assistant", "", "agent {}"],
    ["user", "dig left"],
    ["assistant", "found"],
  ]);
  expect(fork[4]).toEqual(said("user", content));
});
