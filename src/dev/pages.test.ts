import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pages } from "./pages.ts";

const page = 64 * 1024;

describe("Pages", () => {
  it("keeps everything up to both parts", () => {
    const pages = new Pages(page);
    const all = `${"ab\n".repeat((2 * page) / 3)}xx`;
    for (let at = 0; at < all.length; at += 1_000) pages.add(Buffer.from(all.slice(at, at + 1_000)));
    expect(pages.totalBytes).toBe(2 * page);
    expect(pages.isCut).toBe(false);
    expect(pages.text()).toBe(all);
  });

  it("beyond, keeps the first and the last part and says how much is missing", () => {
    for (const extra of [1, page - 1, page, 3 * page + 17]) {
      const all = Array.from({ length: 2 * page + extra }, (_, i) => String.fromCharCode(97 + (i % 26))).join(
        "",
      );
      const pages = new Pages(page);
      pages.add(Buffer.from(all));
      expect(pages.isCut).toBe(true);
      expect(pages.text()).toBe(
        `${all.slice(0, page)}\n... [${extra} bytes left out] ...\n${all.slice(-page)}`,
      );
    }
  });

  it("never shows half a character at the cut", () => {
    for (let shift = 0; shift < 4; shift++) {
      const pages = new Pages(page);
      pages.add(Buffer.from("x".repeat(shift) + "😀".repeat(page)));
      const text = pages.text();
      expect(text).not.toContain("\uFFFD");
      expect(text.split("\n").map((part) => part.length > 10)).toEqual([true, true, true]);
    }
  });

  it("keeps what came in pieces of any size, and shows the end of it", () => {
    const piece = fc.integer({ min: 1, max: 3 * page });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (sizes) => {
        const pages = new Pages(2 * page);
        const all = Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, i) =>
          String.fromCharCode(97 + (i % 26)),
        ).join("");
        let at = 0;
        for (const size of sizes) {
          pages.add(Buffer.from(all.slice(at, at + size)));
          at += size;
          expect(pages.tail(1_000)).toBe(all.slice(Math.max(0, at - 1_000), at));
        }
        const left = all.length - 4 * page;
        const cut = `${all.slice(0, 2 * page)}\n... [${left} bytes left out] ...\n${all.slice(-2 * page)}`;
        expect(pages.text()).toBe(left > 0 ? cut : all);
      }),
      { numRuns: 30 },
    );
  });

  it("is empty when nothing came", () => {
    expect(new Pages(page).text()).toBe("");
  });
});
