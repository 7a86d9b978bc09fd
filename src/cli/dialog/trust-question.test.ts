import { expect, test } from "vitest";
import { widthOf } from "../screen/text/width.ts";
import { en } from "../screen/words/en.ts";
import { trustQuestion } from "./trust-question.ts";

test.each([40, 60, 90])("the question of trust breaks no word on %i columns", (columns) => {
  const items = [{ path: "CRUX.md", kind: "instructions", digest: "d", state: "new", acts: [] }];
  const workspace = { root: "/home/me/a folder", items, session_only: true };
  const lines = trustQuestion(workspace as never, en.trust, columns).split("\n");
  expect(lines.every((line) => widthOf(line.trimEnd()) <= columns)).toBe(true);
  const said = lines.join(" ").replace(/ +/g, " ");
  expect(said).toContain(en.trust.meaning);
  expect(said.endsWith("(h: for an hour)? [y/N] ")).toBe(true);
});
