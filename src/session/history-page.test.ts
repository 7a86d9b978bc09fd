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

test("pageOf() has what came of each call where that is asked for, and of a full page the newest", async () => {
  const use = (id: string, input: unknown) => ({ type: "tool_use", id, name: "bash", input });
  const reply = (...blocks: unknown[]): Draft => ["ctx.record", { role: "assistant", content: "", blocks }];
  const result = (id: string, content: string, more = {}): Draft => [
    "ctx.record",
    { role: "tool", content, tool_call_id: id, ...more },
  ];
  const long = "y".repeat(10_000);
  const drafts = [
    ...Array.from({ length: 200 }, (_, n) => [
      reply(use(`old-${n}`, {}), use(`too-${n}`, {})),
      result(`old-${n}`, long),
      result(`too-${n}`, long, { is_error: true }),
    ]).flat(),
    reply(use("a", { command: "ls" }), use("b", { command: long }), use("c", {})),
    result("b", "failed", { is_error: true }),
    result("a", "one"),
  ];
  const journal = journalOf(new Map([[ORIGIN, drafts]]));
  const row = { proc: ORIGIN, lastSeq: drafts.length };
  const { items } = await pageOf(journal, row, { limit: 200, made: true });
  expect(items.at(-1)?.made).toEqual([
    { id: "a", tool: "bash", input: { command: "ls" }, result: "one" },
    { id: "b", tool: "bash", result: "failed", isError: true },
    { id: "c", tool: "bash", input: {} },
  ]);
  const shown = items.flatMap(({ made = [] }) => made);
  expect(shown.at(-4)?.result).toBe(`${"y".repeat(8_192)}…`);
  expect(items[0]?.made).toEqual([
    { id: "old-1", tool: "bash" },
    { id: "too-1", tool: "bash", isError: true },
  ]);
  const plain = await pageOf(journal, row, { limit: 1 });
  expect(plain.items[0]).not.toHaveProperty("made");
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

test("pageOf() says of each run that did not end well how it ended, after its last message, on whatever page", async () => {
  const limit = { outcome: "limit", message: "max steps reached" };
  const failure = { outcome: "failed", message: "no key", code: "UNAVAILABLE", hint: "add one" };
  const drafts: Draft[] = [
    ["process.spawned", { intent: "one" }],
    ["process.failed_run", failure],
    ["mail.put", {}],
    said("user", "two"),
    said("assistant", "half"),
    ["process.failed_run", limit],
    said("user", "three"),
    said("assistant", "done"),
    ["process.exited", { code: 0, reason: "completed" }],
    said("user", "four"),
    ["process.failed_run", limit],
    // after its run
    ["process.exited", { code: 143, reason: "killed: SIGTERM" }],
    said("user", "five"),
    ["process.exited", { code: 1, reason: "it broke", error: { code: "DRIVER", message: "it broke" } }],
  ];
  const journal = journalOf(new Map([[ORIGIN, drafts]]));
  const row = { proc: ORIGIN, lastSeq: drafts.length };
  const ends = [
    ["one", failure],
    ["two", undefined],
    ["half", limit],
    ["three", undefined],
    ["done", undefined],
    ["four", limit],
    ["five", { outcome: "failed", message: "it broke", code: "DRIVER" }],
  ];
  const { items } = await pageOf(journal, row, { limit: 10 });
  expect(items.map(({ text, end }) => [text, end])).toEqual(ends);
  const single: unknown[] = [];
  for (let before: string | undefined; ; ) {
    const page = await pageOf(journal, row, { limit: 1, ...(before === undefined ? {} : { before }) });
    single.unshift(...page.items.map(({ text, end }) => [text, end]));
    if (page.next === undefined) break;
    before = page.next;
  }
  expect(single).toEqual(ends);
  const found = await pageOf(journal, row, { limit: 9, text: "done" });
  expect(found.items).toEqual([expect.not.objectContaining({ end: expect.anything() })]);
});

test("pageOf() has the number of a message that came by the mailbox, whichever read of the journal finds it", async () => {
  const drafts: Draft[] = [
    said("user", "first"),
    ["mail.done", { seq: 4 }],
    said("assistant", "one"),
    ["mail.done", { seq: 5 }],
    said("user", "a note"),
    ...Array.from({ length: 128 }, (): Draft => ["acct.settle", {}]),
    said("user", "second"),
    ["mail.done", { seq: 7 }],
  ];
  for (const more of [0, 1]) {
    const all = [...drafts, ...drafts.slice(0, more).map((): Draft => ["acct.settle", {}])];
    const journal = journalOf(new Map([[FORK, all]]));
    const { items } = await pageOf(journal, { proc: FORK, lastSeq: all.length }, { limit: 10 });
    expect(items.map(({ text, message }) => [text, message])).toEqual([
      ["first", 4],
      ["one", undefined],
      ["a note", undefined],
      ["second", 7],
    ]);
  }
});
