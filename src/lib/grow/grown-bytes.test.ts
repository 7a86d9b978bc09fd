import fc from "fast-check";
import { expect, test } from "vitest";
import { GrownBytes } from "./grown-bytes.ts";

test("GrownBytes.of() is the text of the whole list, whatever lists came before or went on from it", () => {
  const parts = ["a", "é", "€𝄞", "", "long ".repeat(40)].map((word) => ({ word }));
  const list = fc.array(fc.constantFrom(...parts), { maxLength: 24 });
  fc.assert(
    fc.property(fc.array(list, { maxLength: 12 }), (lists) => {
      const grown = new GrownBytes<{ word: string }>(({ word }, isFirst) => `${isFirst ? "" : ","}<${word}>`);
      const made = lists.map((each) => ({ each, bytes: grown.of(each) }));
      for (const { each, bytes } of made)
        expect(Buffer.from(bytes).toString()).toBe(each.map(({ word }) => `<${word}>`).join(","));
    }),
  );
});
