import { expect, test } from "vitest";
import { asCtxId, asPid, asProcUuid } from "../../abi/ids.ts";
import { History } from "../../history/recover/history.ts";
import { contextFacet } from "../context/facet.ts";
import { LIMITS } from "../limits.ts";
import type { JournalRecord, RecordKind } from "../ports/journal.ts";
import type { Process } from "./process.ts";
import { SeenFileSet, seenFacet } from "./seen-file-set.ts";
import { seenFilesOf } from "./seen-files.ts";

const proc = asProcUuid("u-1");

function record(seq: number, kind: RecordKind, body: unknown): JournalRecord {
  return { proc, pid: asPid(1), kind, v: 1, body, lsn: seq, seq, epoch: 1, at: seq };
}

test("seenFilesOf journals what is set, marked with the epoch, and nothing that is only looked at", () => {
  const noted: unknown[] = [];
  const core = {
    note: (_self: unknown, kind: string, body: unknown) => void noted.push([kind, body]),
    fileLabels: { ofContent: () => [] },
  };
  const self = { seen: new SeenFileSet(), ctxId: asCtxId(1) };
  const seen = seenFilesOf(core, self as unknown as Process);
  seen.set("/a", { sha256: "1", source: "view" });
  self.seen.epoch = 2;
  seen.set("/b", { sha256: "2", source: "edit" });
  expect([seen.get("/a"), seen.has("/b"), seen.get("/c"), seen.epoch]).toEqual([
    { sha256: "1", source: "view", epoch: 0 },
    true,
    undefined,
    2,
  ]);
  expect(noted).toEqual([
    ["file.seen", { path: "/a", sha256: "1", source: "view", epoch: 0 }],
    ["file.seen", { path: "/b", sha256: "2", source: "edit", epoch: 2 }],
  ]);
});

test("History holds where each file was seen last, and how often a message was replaced; a fork has both", () => {
  const history = new History(proc);
  history.take(record(1, "file.seen", { path: "/a" }));
  history.take(record(2, "file.seen", { path: "/b" }));
  history.take(record(3, "ctx.record", { role: "user", content: "x" }));
  history.take(record(4, "ctx.record", { role: "user", content: "y", replaces: 1 }));
  history.take(record(5, "ctx.record", { role: "user", content: "y", replaces: 1, cid: 7 }));
  history.take(record(6, "file.seen", { path: "/a" }));
  const places = (of: History) => [
    [...of.of(seenFacet).entries()].map(([path, { seq }]) => [path, seq]),
    of.of(contextFacet).epoch,
  ];
  const expected = [
    [
      ["/b", 2],
      ["/a", 6],
    ],
    1,
  ];
  expect(places(history)).toEqual(expected);
  expect(places(History.from(proc, structuredClone(history.state)))).toEqual(expected);
  const fork = new History(asProcUuid("u-2"));
  fork.remember(history);
  expect(places(fork)).toEqual(expected);
});

test("History forgets the least recently seen beyond the limit", () => {
  const history = new History(proc);
  for (let n = 1; n <= LIMITS.seenFiles + 1; n++) history.take(record(n, "file.seen", { path: `/${n}` }));
  expect(["/1", "/2"].map((path) => history.of(seenFacet).has(path))).toEqual([false, true]);
});

test("History: a snapshot of before files were seen is whole", () => {
  const { seen: _seen, epoch: _epoch, ...old } = new History(proc).state;
  expect(History.from(proc, old).of(contextFacet).epoch).toBe(0);
});
