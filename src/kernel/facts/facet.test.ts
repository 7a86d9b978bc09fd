/** What a process holds of its facts, by records and by what is read of them. */
import { expect, test } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { labelsFacet } from "../labels/facet.ts";
import { noteFacet, pinNote } from "../process/note.ts";
import { enteredFacet } from "../process/tree/entered.ts";
import { treeNamed } from "../testing/fake-trees.ts";
import { Facts } from "./facet.ts";

const WEB: Label = { kind: "untrusted", source: "web", detail: "https://a.test/" };
const FILE: Label = { kind: "secret", source: "file", detail: "/key" };
const BY = { principal: "user", client: "c", uid: 1 };

test("what was read of a fact takes the place of what was held, but no label goes by that", () => {
  const [held, read] = [new Facts(), new Facts()];
  held.change(labelsFacet, "label.add", { labels: [WEB] });
  read.change(labelsFacet, "label.add", { labels: [FILE] });
  held.change(noteFacet, "process.note", { text: "old" });
  read.change(noteFacet, "process.note", { text: "" });
  held.adopt([labelsFacet, noteFacet], read);
  expect(held.of(labelsFacet)).toEqual([WEB, FILE]);
  expect(held.of(noteFacet)).toBe("");
});

test("change() holds what the record says, also where that is nothing", () => {
  const facts = new Facts();
  facts.change(enteredFacet, "worktree.enter", { worktree: treeNamed("a") });
  expect(facts.of(enteredFacet)).toEqual(treeNamed("a"));
  expect(facts.change(enteredFacet, "worktree.exit", {})).toBeNull();
  expect(facts.of(enteredFacet)).toBeNull();
});

test("a note is journalled and held without its secrets, and is one line of plain text", async () => {
  const facts = new Facts();
  const kept: unknown[] = [];
  const proc = {
    ...{ facts, seed: { uuid: asProcUuid("u-1") } },
    wording: (text: string) => text.replace("hunter2", "[redacted]"),
  };
  const core = {
    ports: {
      journal: {
        append: async (drafts: readonly { body: unknown }[]) => kept.push(...drafts),
        processOf: async (pid: number) => (pid === 2 ? asProcUuid("u-0") : undefined),
      },
    },
    journalWatch: { check: () => {} },
    sessions: { isHere: () => true, awake: async () => {} },
    table: { get: (pid: number) => (pid === 3 ? proc : undefined) },
  };
  await pinNote(core, asPid(3), { text: "uses hunter2", by: BY });
  expect(kept).toMatchObject([{ kind: "process.note", body: { text: "uses [redacted]", by: BY } }]);
  expect(facts.of(noteFacet)).toBe("uses [redacted]");
  for (const text of ["two\nlines", "\u001b[2J", "x".repeat(201)])
    await expect(pinNote(core, asPid(3), { text, by: BY })).rejects.toMatchObject({ code: "INVALID" });
  await expect(pinNote(core, asPid(0), { text: "x", by: BY })).rejects.toMatchObject({ code: "INVALID" });
  await expect(pinNote(core, asPid(2), { text: "x", by: BY })).rejects.toMatchObject({
    code: "CONFLICT",
    message: "process 2 has ended: its note cannot change any more",
    fact: { kind: "ended", pid: 2 },
  });
  await expect(pinNote(core, asPid(9), { text: "x", by: BY })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(kept).toHaveLength(1);
});
