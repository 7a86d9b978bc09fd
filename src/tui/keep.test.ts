import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { paste } from "./editor/buffer.ts";
import { NEW, replaced } from "./editor/edit.ts";
import { Keep } from "./keep.ts";

const home = mkdtempSync(join(tmpdir(), "crux-keep-"));
afterAll(() => rmSync(home, { recursive: true }));

test("an unsent text keeps what was pasted into it; of a picture it keeps that there was one", () => {
  const keep = new Keep({ HOME: mkdtempSync(join(home, "home-")) }, "/w");
  const long = "line\n".repeat(40);
  const { buffer } = replaced(NEW, "see [Image #1] ");
  keep.keepDraft(7, { buffer: paste(buffer, long) });
  expect(keep.draft(7)).toBe(`see [Image] ${long}`);
  keep.remember("what is [Image #1]?");
  expect(keep.prompts()).toEqual(["what is [Image]?"]);
});
