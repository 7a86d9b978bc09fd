import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EntryWord } from "../../kernel/gate/host-files.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { decide, FileHistory, MAX_SNAPSHOTS } from "./file-history.ts";
import { probeOutcome } from "./probe.ts";
import type { SnapshotBody } from "./snapshot.ts";

const record = (kind: string, body: unknown): JournalRecord => ({ kind, body }) as JournalRecord;
const file = (n: number): EntryWord => `sha256:${n}`;
const changed = (before: EntryWord, after: EntryWord, more: Partial<SnapshotBody> = {}): SnapshotBody => ({
  path: "/w/a",
  before,
  after,
  ...(before.startsWith("sha256:") ? { blob: before.slice(7), mode: 0o644 } : {}),
  ...more,
});

function historyOf(...changes: readonly SnapshotBody[]): FileHistory {
  const history = new FileHistory();
  for (const change of changes) history.take(record("snapshot", change));
  return history;
}

function decided(changes: readonly SnapshotBody[], now: EntryWord) {
  const [path] = historyOf(...changes).paths;
  if (path === undefined) throw new Error("no path");
  return decide(path, now);
}

describe("decide()", () => {
  it.each<[string, SnapshotBody[], EntryWord, string, boolean]>([
    ["an edit", [changed(file(1), file(2))], file(2), "restored", false],
    ["two edits", [changed(file(1), file(2)), changed(file(2), file(3))], file(3), "restored", false],
    ["an edit that was not done", [changed(file(1), file(2))], file(1), "unchanged", false],
    ["a file that was made", [changed("absent", file(2))], file(2), "removed", false],
    ["one that is gone already", [changed("absent", file(2))], "absent", "unchanged", false],
    ["one that was deleted", [changed(file(1), "absent")], "absent", "recreated", false],
    ["a directory that was made", [changed("absent", "directory")], "directory", "removed", false],
    ["a directory that was removed", [changed("directory", "absent")], "absent", "recreated", false],
    ["another's edit since", [changed(file(1), file(2))], file(9), "restored", true],
    [
      "another's edit between",
      [changed(file(1), file(2)), changed(file(8), file(3))],
      file(3),
      "restored",
      true,
    ],
    ["one that another deleted", [changed(file(1), file(2))], "absent", "recreated", true],
    ["a link in its place", [changed(file(1), file(2))], "other", "kept", true],
    ["a directory in its place", [changed(file(1), file(2))], "directory", "kept", true],
    ["one that was too large", [changed("unsaved", file(2))], file(2), "kept", false],
    ["one that was a link", [changed("other", "absent")], "absent", "kept", false],
  ])("%s", (_what, changes, now, deed, isConflict) => {
    expect(decided(changes, now)).toMatchObject({ deed, isConflict });
  });

  it("whatever the process did, done or cut off, leads back to what was before without a conflict", () => {
    const states = fc.array(fc.constantFrom<EntryWord>("absent", file(1), file(2), file(3)), {
      minLength: 2,
    });
    fc.assert(
      fc.property(states, fc.array(fc.boolean()), (wanted, isDone) => {
        let now = wanted[0] as EntryWord;
        const goal = now;
        const changes: SnapshotBody[] = [];
        for (const [n, after] of wanted.slice(1).entries()) {
          if (after === now) continue;
          changes.push(changed(now, after));
          if (isDone[n] !== false) now = after;
        }
        if (changes.length === 0) return;
        const { deed, isConflict } = decided(changes, now);
        expect(isConflict).toBe(false);
        expect(deed === "unchanged").toBe(now === goal);
        expect(deed).not.toBe("kept");
      }),
    );
  });
});

describe("FileHistory", () => {
  it("goes back over 100 messages that changed files, and not over 101", () => {
    const of = (messages: number): FileHistory => {
      const history = new FileHistory();
      for (let n = 0; n < messages; n++) {
        history.take(record("ctx.record", { role: "user", content: `${n}` }));
        history.take(record("snapshot", changed(file(n), file(n + 1))));
        history.take(record("snapshot", changed(file(n), file(n + 1), { path: "/w/b" })));
      }
      for (let n = 0; n < 500; n++)
        history.take(record("ctx.record", { role: "user", content: "no change" }));
      return history;
    };
    expect(of(MAX_SNAPSHOTS).isEvicted).toBe(false);
    expect(of(MAX_SNAPSHOTS + 1).isEvicted).toBe(true);
  });

  it("names the newest commands, and counts all", () => {
    const history = new FileHistory();
    for (let n = 0; n < 30; n++)
      history.take(record("call.intent", { effects: [{ kind: "exec", argv: [], shell: `make\n${n}` }] }));
    history.take(record("call.intent", { effects: [{ kind: "write", path: "/w/a" }] }));
    expect(history.commandCount).toBe(30);
    expect(history.commands).toHaveLength(20);
    expect(history.commands.at(-1)).toBe("make 29");
  });
});

describe("probeOutcome()", () => {
  const now = (word: EntryWord) => new Map([["/w/a", word]]);
  it.each<[string, SnapshotBody[], EntryWord, string]>([
    ["no file was touched", [], file(1), "not_done"],
    ["it is as it was", [changed(file(1), file(2))], file(1), "not_done"],
    ["it is as it was to be", [changed(file(1), file(2))], file(2), "done"],
    ["several changes of one file", [changed(file(1), file(2)), changed(file(2), file(3))], file(3), "done"],
    ["only the first of them", [changed(file(1), file(2)), changed(file(2), file(3))], file(2), "unknown"],
    ["somebody else's", [changed(file(1), file(2))], file(7), "unknown"],
    ["too large to look into", [changed("unsaved", file(2))], "unsaved", "unknown"],
  ])("%s", (_what, changes, word, outcome) => {
    expect(probeOutcome(changes, now(word))).toBe(outcome);
  });

  it("one file done and one not is unknown", () => {
    const changes = [changed(file(1), file(2)), changed(file(3), file(4), { path: "/w/b" })];
    const half = new Map<string, EntryWord>([
      ["/w/a", file(2)],
      ["/w/b", file(3)],
    ]);
    expect(probeOutcome(changes, half)).toBe("unknown");
  });
});
