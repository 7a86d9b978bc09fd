import { describe, expect, it } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { Redactor } from "../../lib/redact/redact.ts";
import type { JournalDraft } from "../ports/journal.ts";
import { MemoryJournal } from "../testing/memory-journal.ts";
import { redactedJournal, redactedValue } from "./redacted-journal.ts";

const redactor = new Redactor(new Uint8Array(32));
redactor.learn(["planted-0815"]);

const draft = (body: unknown): JournalDraft => ({
  proc: asProcUuid("00000000-0000-4000-8000-000000000001"),
  pid: asPid(1),
  kind: "call.intent",
  v: 1,
  body,
});

describe("redactedJournal()", () => {
  it("keeps every text without its secrets, however deep it lies", async () => {
    const journal = new MemoryJournal();
    const redacted = redactedJournal(journal, redactor);
    await redacted.append([draft({ a: ["x", { b: "say planted-0815 twice planted-0815" }], n: 1 })]);
    redacted.note([draft("planted-0815")]);
    await redacted.sync();
    const kept = JSON.stringify(journal.records.map(({ body }) => body));
    expect(kept).not.toContain("planted");
    expect(kept.match(/\[redacted:known:[0-9a-f]{6}\]/g)).toHaveLength(3);
    expect(kept).toContain('"n":1');
  });

  it("is otherwise the journal", async () => {
    const journal = new MemoryJournal();
    const redacted = redactedJournal(journal, redactor);
    expect(redacted.epoch).toBe(journal.epoch);
    expect(redacted.state).toEqual(journal.state);
    expect(redacted.highestPid()).toBe(0);
  });
});

describe("redactedValue()", () => {
  it("gives the same value where nothing was found", () => {
    const value = { a: ["text that is long enough", null, 3], b: { c: true } };
    expect(redactedValue(redactor, value)).toBe(value);
  });
});
