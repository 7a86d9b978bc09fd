import { expect, test } from "vitest";
import { toJournalFault } from "./fault.ts";

test.each([
  ["EMFILE", "journal_io", false],
  ["ENFILE", "journal_io", false],
  ["ENOMEM", "journal_io", false],
  ["ENOSPC", "journal_full", false],
  ["EUCLEAN", "journal_damaged", true],
])("toJournalFault() of %s is %s", (code, reason, isLost) => {
  expect(toJournalFault(Object.assign(new Error("x"), { code }))).toMatchObject({ reason, isLost });
});
